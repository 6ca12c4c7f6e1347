"""events.jsonl is written record by record and read back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError
from pi_batch.event_log import header_line, read_log
from pi_batch.events import MessageEnd, MessageUpdate, Record, TurnStart, Warned
from pi_batch.messages import user_text
from pi_batch.redact import Masker
from pi_batch.sinks.event_log import EventLog

AT = "2026-01-01T00:00:00.000Z"
ONE = Record(1, AT, "k", TurnStart(1))
TWO = Record(2, AT, None, Warned("careful"))


def test_each_record_is_on_disk_at_once_below_the_header(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    assert path.read_text() == header_line() + "\n"
    log.handle(ONE)
    assert list(read_log(path)) == [ONE]
    log.handle(TWO)
    assert list(read_log(path)) == [ONE, TWO]
    log.close()
    assert log.warnings == ()


def test_what_is_live_only_is_not_logged(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.handle(Record(None, AT, "k", MessageUpdate("text", "x")))
    log.handle(Record(1, AT, "k", MessageEnd("id", "user", message=user_text("secret plan"))))
    log.close()
    assert list(read_log(path)) == [Record(1, AT, "k", MessageEnd("id", "user"))]


def test_an_existing_log_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    for record in (ONE, TWO):
        log = EventLog(path)
        log.handle(record)
        log.close()
    assert list(read_log(path)) == [ONE, TWO]


def test_a_torn_last_line_is_set_aside_and_said(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.handle(ONE)
    log.handle(TWO)
    log.close()
    path.write_bytes(path.read_bytes()[:-15])
    log = EventLog(path)
    assert "torn last line" in log.warnings[0]
    log.handle(TWO)
    log.close()
    assert list(read_log(path)) == [ONE, TWO]
    assert (tmp_path / "events.jsonl.torn").exists()


def test_a_last_line_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.handle(ONE)
    log.close()
    path.write_bytes(path.read_bytes()[:-1])
    log = EventLog(path)
    log.handle(TWO)
    log.close()
    assert list(read_log(path)) == [ONE, TWO]
    assert log.warnings == ()


def test_a_log_that_died_in_its_header_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"type":"lo')
    log = EventLog(path)
    log.handle(ONE)
    log.close()
    assert list(read_log(path)) == [ONE]


def test_a_full_disk_is_named_with_the_file() -> None:
    with pytest.raises(LogWriteError, match="/dev/full: cannot be written: No space left on device"):
        EventLog(Path("/dev/full"))


def test_secrets_do_not_reach_the_file(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path, mask=Masker(["hunter2-hunter2"]))
    log.handle(Record(1, AT, None, Warned("it is hunter2-hunter2")))
    log.close()
    assert list(read_log(path)) == [Record(1, AT, None, Warned("it is ***"))]
