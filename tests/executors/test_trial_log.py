"""A trial's log, read while it grows: every record once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pi_batch.event_log import encode_record, header_line
from pi_batch.events import Record, Warned
from pi_batch.executors.trial_log import TrialLog
from tests.streams import Stream

RECORDS = Stream("a").start("a").agent("a").end("a").finish().records
KEYED = [record for record in RECORDS if record.key == "a"]


def lines(*records: Record) -> str:
    return "".join(f"{encode_record(record, live=False)}\n" for record in records)


def test_records_come_once_and_in_order_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = TrialLog(path)
    assert list(log.new()) == []
    path.write_text(f"{header_line()}\n{lines(*RECORDS[:4])}", encoding="utf-8")
    assert [record.event for record in log.new()] == [record.event for record in RECORDS[1:4]]
    with path.open("a", encoding="utf-8") as file:
        file.write(lines(*RECORDS[4:]))
    assert [record.seq for record in log.new()] == [record.seq for record in KEYED[3:]]
    assert list(log.new()) == []
    assert log.count == len(KEYED)


def test_a_line_that_is_not_whole_yet_comes_later(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    text = lines(KEYED[0])
    path.write_text(f"{header_line()}\n{text[:30]}", encoding="utf-8")
    log = TrialLog(path)
    assert list(log.new()) == []
    path.write_text(f"{header_line()}\n{text}", encoding="utf-8")
    assert list(log.new()) == [KEYED[0]]


def test_what_the_runs_own_log_has_is_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(f"{header_line()}\n{lines(*RECORDS)}", encoding="utf-8")
    seen = Counter((record.at, record.event.type) for record in KEYED[:5])
    log = TrialLog(path, seen)
    assert list(log.new()) == KEYED[5:]
    assert log.count == len(KEYED)


def test_warnings_of_the_trials_run_are_given_and_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    warned = Record(9, RECORDS[0].at, None, Warned("nothing is isolated"))
    path.write_text(f"{header_line()}\n{lines(RECORDS[0], warned, KEYED[0])}", encoding="utf-8")
    log = TrialLog(path)
    assert list(log.new()) == [warned, KEYED[0]]
    assert log.count == 1
