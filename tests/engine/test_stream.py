"""The one outlet numbers without gaps, folds everything, and fails loudly."""

from __future__ import annotations

from pi_batch.engine.stream import Stream
from pi_batch.errors import LogWriteError
from pi_batch.events import BatchEnd, BatchStart, MessageUpdate, Record, ToolExecutionUpdate, Warned
from tests.clocks import FakeClock


class Kept:
    """A sink that keeps what it is given, or fails after some."""

    def __init__(self, fails_after: int | None = None, *, takes_live_only: bool = True) -> None:
        self.takes_live_only = takes_live_only
        self.records: list[Record] = []
        self.is_closed = False
        self._fails_after = fails_after

    def handle(self, record: Record) -> None:
        if self._fails_after is not None and len(self.records) >= self._fails_after:
            raise LogWriteError("events.jsonl: cannot be written: No space left on device")
        self.records.append(record)

    def close(self) -> None:
        self.is_closed = True
        if self._fails_after == -1:
            raise LogWriteError("at the end")


def start() -> BatchStart:
    return BatchStart("r", "2026-01-01T00:00:00.000Z", "0", ())


def test_live_only_events_carry_no_number_and_leave_no_gap() -> None:
    sink = Kept()
    stream = Stream([sink], FakeClock(), lambda: None)
    for event in (start(), MessageUpdate("text", "a"), Warned("b"), BatchEnd("complete", 1.0)):
        stream.emit(None, event)
    assert [record.seq for record in sink.records] == [1, None, 2, 3]


def test_live_only_events_go_to_those_who_take_them() -> None:
    log, terminal = Kept(takes_live_only=False), Kept()
    stream = Stream([log, terminal], FakeClock(), lambda: None)
    for event in (start(), MessageUpdate("text", "a"), ToolExecutionUpdate("1", "b"), Warned("c")):
        stream.emit(None, event)
    assert [record.event.type for record in log.records] == ["batch_start", "warning"]
    assert [record.event.type for record in terminal.records] == [
        "batch_start",
        "message_update",
        "tool_execution_update",
        "warning",
    ]
    assert [record.seq for record in log.records] == [1, 2]


def test_a_sink_that_fails_at_a_live_only_event_gets_nothing_more() -> None:
    bad = Kept(fails_after=1)
    stream = Stream([bad], FakeClock(), lambda: None)
    for event in (start(), MessageUpdate("text", "a"), MessageUpdate("text", "b"), Warned("c")):
        stream.emit(None, event)
    assert len(bad.records) == 1
    assert stream.failure is not None


def test_events_are_dated_in_utc_milliseconds() -> None:
    sink = Kept()
    Stream([sink], FakeClock(0.25), lambda: None).emit("k", Warned("b"))
    assert sink.records[0].at == "2026-01-01T00:00:00.250Z"
    assert sink.records[0].key == "k"


def test_a_sink_that_cannot_write_is_dropped_and_ends_the_run_once() -> None:
    ended: list[int] = []
    bad, good = Kept(fails_after=1), Kept()
    stream = Stream([bad, good], FakeClock(), lambda: ended.append(1))
    for _ in range(3):
        stream.emit(None, Warned("x"))
    assert len(good.records) == 3
    assert len(bad.records) == 1
    assert ended == [1]
    assert stream.failure is not None


def test_what_is_emitted_is_folded() -> None:
    stream = Stream([], FakeClock(), lambda: None)
    stream.emit(None, start())
    assert stream.fold.result().status == "running"
    stream.emit(None, BatchEnd("complete", 2.5))
    assert (stream.fold.result().status, stream.fold.result().duration_s) == ("complete", 2.5)


def test_closing_closes_every_sink_even_after_a_failure() -> None:
    bad, good = Kept(fails_after=-1), Kept()
    stream = Stream([bad, good], FakeClock(), lambda: None)
    stream.close()
    assert good.is_closed
    assert stream.failure is not None
