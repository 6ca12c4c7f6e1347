"""Lines that are whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError
from pi_batch.sinks.line_file import LineFile, remove_quietly


def test_lines_are_appended_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.jsonl"
    file = LineFile(path)
    file.append("one", is_synced=False)
    file.append("zwö", is_synced=True)
    file.close()
    again = LineFile(path)
    assert again.read() == "one\nzwö\n".encode()
    assert again.size_bytes == 9
    again.append("three", is_synced=False)
    again.close()
    assert path.read_bytes() == "one\nzwö\nthree\n".encode()


def test_a_tail_is_set_aside_beside_earlier_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    for tail in (b"{first", b"{second"):
        path.write_bytes(b"{}\n" + tail)
        file = LineFile(path)
        beside = file.set_aside(tail, 3)
        file.close()
        assert path.read_bytes() == b"{}\n"
    assert beside.read_bytes() == b"{first\n{second\n"


def test_a_device_is_written_to_but_never_read() -> None:
    file = LineFile(Path("/dev/null"))
    assert not file.is_regular
    assert file.read() == b""
    file.append("gone", is_synced=True)
    file.sync()
    file.close()
    file.close()


def test_a_closed_file_takes_nothing(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "x")
    file.close()
    with pytest.raises(LogWriteError, match="Bad file descriptor"):
        file.append("x", is_synced=False)


def test_removing_what_is_gone_is_no_error(tmp_path: Path) -> None:
    remove_quietly(tmp_path / "none")
