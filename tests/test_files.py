"""A file is written whole or not at all, and what cannot be written is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError
from pi_batch.files import write_atomic


def test_a_new_file_holds_exactly_the_content(tmp_path: Path) -> None:
    write_atomic(tmp_path / "run.json", b"{}\n")
    assert (tmp_path / "run.json").read_bytes() == b"{}\n"


def test_an_old_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    target.write_bytes(b"old")
    write_atomic(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_others_may_read_it(tmp_path: Path) -> None:
    write_atomic(tmp_path / "run.json", b"x")
    assert (tmp_path / "run.json").stat().st_mode & 0o777 == 0o644


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogWriteError, match=r"gone/run\.json: cannot be written: No such file"):
        write_atomic(tmp_path / "gone" / "run.json", b"x")


def test_a_target_that_is_a_directory_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(LogWriteError, match="cannot be written"):
        write_atomic(tmp_path / "run.json", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
