"""Logs are read from their end, and from the run directory only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.reports.logs import log_reader, no_logs


def test_a_short_log_is_read_whole_and_readable(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"\x1b[31mred\x1b[0m caf\xe9\r\nend\x00")
    assert log_reader(tmp_path)("a.log") == "red caf\ufffd\nend␀"


def test_a_long_log_is_read_from_a_lines_start_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join(f"line {number}\n" for number in range(10_000)), encoding="utf-8")
    text = log_reader(tmp_path, max_bytes=1_000)("a.log")
    first, second, *_ = text.split("\n")
    assert first == "(the log has 98890 bytes; its end:) …"
    assert second.startswith("line ")
    assert text.endswith("line 9999\n")


def test_one_endless_line_keeps_its_end(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("é" * 50_000 + "THE-END", encoding="utf-8")
    text = log_reader(tmp_path, max_bytes=1_001)("a.log")
    assert text.endswith("éTHE-END")
    (tmp_path / "b.log").write_text("x" * 50_000 + "THE-END\n", encoding="utf-8")
    assert log_reader(tmp_path, max_bytes=1_000)("b.log").endswith("THE-END\n")


@pytest.mark.parametrize(
    "name", ["missing.log", ".", "../outside.log", "/etc/hostname", "a\x00b", "link.log"]
)
def test_what_is_no_log_of_this_run_reads_as_empty(tmp_path: Path, name: str) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (tmp_path / "outside.log").write_text("secret", encoding="utf-8")
    (run_dir / "link.log").symlink_to(tmp_path / "outside.log")
    assert log_reader(run_dir)(name) == ""


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.log")
    assert log_reader(tmp_path)("a.log") == ""


def test_without_a_run_directory_every_log_is_empty() -> None:
    assert no_logs("a.log") == ""
