"""Hidden files: as they were when they were read, in the place of whatever has their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.hidden import HiddenFiles, read_hidden
from tests.benches import put


def test_they_are_laid_down_as_they_were_read(tmp_path: Path) -> None:
    put(tmp_path, {"checks/a/run.sh": "true", "lone.txt": "1"})
    hidden = read_hidden([tmp_path / "checks", tmp_path / "lone.txt"])
    put(tmp_path, {"checks/a/run.sh": "tampered", "checks/more": "x"})
    copy = tmp_path / "copy"
    copy.mkdir()
    hidden.lay(str(copy))
    assert (copy / "checks/a/run.sh").read_text() == "true"
    assert (copy / "lone.txt").read_text() == "1"
    assert not (copy / "checks/more").exists()


def test_what_stands_in_their_place_goes(tmp_path: Path) -> None:
    put(tmp_path, {"checks/run.sh": "true", "copy/checks/run.sh": "exit 0", "copy/checks/conftest.py": "x"})
    read_hidden([tmp_path / "checks"]).lay(str(tmp_path / "copy"))
    assert [path.name for path in (tmp_path / "copy/checks").iterdir()] == ["run.sh"]
    assert (tmp_path / "copy/checks/run.sh").read_text() == "true"


def test_a_link_in_their_place_leads_nowhere(tmp_path: Path) -> None:
    put(tmp_path, {"checks/run.sh": "true", "outside/run.sh": "mine", "copy/x": ""})
    (tmp_path / "copy/checks").symlink_to("../outside")
    read_hidden([tmp_path / "checks"]).lay(str(tmp_path / "copy"))
    assert (tmp_path / "outside/run.sh").read_text() == "mine"
    assert not (tmp_path / "copy/checks").is_symlink()


def test_a_task_without_any_has_nothing_laid_down(tmp_path: Path) -> None:
    read_hidden([]).lay(str(tmp_path))
    assert read_hidden([]) == HiddenFiles()
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_gone_are_named(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="checks"):
        read_hidden([tmp_path / "checks"])
