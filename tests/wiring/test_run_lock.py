"""One process at a time in a run directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError, UsageError
from pi_batch.sandboxes.marks import runner_id
from pi_batch.wiring.run_lock import Holder, held, is_held


def test_the_first_finds_nobody_and_the_next_learns_who_it_was(tmp_path: Path) -> None:
    with held(tmp_path) as before:
        assert before == Holder()
    with held(tmp_path) as before:
        assert before == Holder(os.getpid(), runner_id())


def test_a_second_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with (
        held(tmp_path),
        pytest.raises(UsageError, match=f"in use, locked by process {os.getpid()}"),
        held(tmp_path),
    ):
        raise AssertionError("held twice")
    with held(tmp_path):
        assert json.loads((tmp_path / ".lock").read_bytes())["pid"] == os.getpid()


def test_it_is_known_whether_somebody_works_there(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with held(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    assert not is_held(tmp_path / "nowhere")


def test_a_process_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom pi_batch.wiring.run_lock import held\n"
        "with held(Path(sys.argv[1])):\n    os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert not is_held(tmp_path)
    with held(tmp_path) as before:
        assert before.pid not in (0, os.getpid())


@pytest.mark.parametrize("content", [b"", b"x", b"[]", b'{"pid": "me"}', b'{"runner": 3}'])
def test_a_strange_note_is_nobodys(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".lock").write_bytes(content)
    with held(tmp_path) as before:
        assert before.pid == 0


def test_a_directory_that_is_not_there_cannot_be_held(tmp_path: Path) -> None:
    with pytest.raises(LogWriteError, match="cannot be written"), held(tmp_path / "nowhere"):
        raise AssertionError("held")
