"""What a session keeps of a script's calls: pi's record, bounded."""

from __future__ import annotations

from pi_batch.codemode.records import MAX_ARGUMENTS_BYTES, MAX_CALLS, CallRecords
from tests.clocks import FakeClock


def test_calls_are_recorded_in_order_with_their_times_and_ends() -> None:
    clock = FakeClock()
    records = CallRecords("call_1", clock.monotonic)
    first = records.start("read", {"path": "a"})
    second = records.start("bash", {"command": "x"})
    records.start("grep", {"pattern": "y"})
    records.end(second, "no such command")
    records.end(first, None)
    value = records.to_json()
    assert [(one["id"], one["name"], one["status"]) for one in value["calls"]] == [
        ("call_1.1", "read", "ok"),
        ("call_1.2", "bash", "error"),
        ("call_1.3", "grep", "unfinished"),
    ]
    assert value["calls"][0]["arguments"] == {"path": "a"}
    assert value["calls"][1]["error"] == "no such command"
    assert "durationMs" in value["calls"][0]
    assert "durationMs" not in value["calls"][2]
    assert value["complete"] is False


def test_a_record_of_calls_that_all_ended_is_complete() -> None:
    records = CallRecords("c", FakeClock().monotonic)
    assert records.to_json() == {"calls": [], "complete": True}
    records.end(records.start("ls", {}), None)
    assert records.to_json()["complete"] is True


def test_times_count_from_the_scripts_start() -> None:
    now = iter([100.0, 100.25, 100.75])
    records = CallRecords("c", lambda: next(now))
    records.end(records.start("ls", {}), None)
    (call,) = records.to_json()["calls"]
    assert (call["startMs"], call["durationMs"]) == (250, 500)


def test_large_arguments_are_left_out_and_their_size_is_said() -> None:
    records = CallRecords("c", FakeClock().monotonic)
    records.end(records.start("write", {"content": "é" * MAX_ARGUMENTS_BYTES}), None)
    (call,) = records.to_json()["calls"]
    assert "arguments" not in call
    assert call["argumentsBytes"] > 2 * MAX_ARGUMENTS_BYTES
    assert records.to_json()["complete"] is False


def test_all_arguments_together_are_bounded() -> None:
    records = CallRecords("c", FakeClock().monotonic)
    for _ in range(10):
        records.end(records.start("write", {"content": "x" * (MAX_ARGUMENTS_BYTES - 100)}), None)
    kept = [call for call in records.to_json()["calls"] if "arguments" in call]
    assert len(kept) == 4


def test_calls_beyond_the_count_are_counted_and_not_recorded() -> None:
    records = CallRecords("c", FakeClock().monotonic)
    for _ in range(MAX_CALLS + 3):
        records.end(records.start("ls", {}), "an error " * 100)
    assert records.count == MAX_CALLS + 3
    calls = records.to_json()["calls"]
    assert len(calls) == MAX_CALLS
    assert len(calls[0]["error"]) == 500
    assert records.to_json()["complete"] is False


def test_a_lone_surrogate_in_arguments_does_no_harm() -> None:
    records = CallRecords("c", FakeClock().monotonic)
    records.start("write", {"content": "\ud800"})
    assert records.to_json()["calls"][0]["arguments"] == {"content": "\ud800"}
