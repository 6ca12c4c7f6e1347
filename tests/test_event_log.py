"""Records survive the way to a file and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.event_log import decode_record, encode_record, header_line, is_live_only, read_log
from pi_batch.events import (
    Event,
    MessageEnd,
    MessageUpdate,
    Record,
    TaskEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
    UnknownEvent,
    Warned,
)
from pi_batch.messages import user_text
from pi_batch.results import BudgetAmounts
from tests.strategies import instances

AT = "2026-01-01T00:00:00.000Z"
KNOWN = [kind for kind in get_args(Event) if kind is not UnknownEvent]
SLOW = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.__name__)
@SLOW
@given(data=st.data())
def test_every_event_comes_back_from_its_live_form(kind: type[Any], data: st.DataObject) -> None:
    record = Record(7, AT, "k", data.draw(instances(kind)))
    line = encode_record(record, live=True)
    assert "\n" not in line
    assert decode_record(line) == record


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.__name__)
@SLOW
@given(data=st.data())
def test_the_log_form_leaves_out_what_the_session_has_and_nothing_else(
    kind: type[Any], data: st.DataObject
) -> None:
    record = Record(None, AT, None, data.draw(instances(kind)))
    event = record.event
    if isinstance(event, MessageEnd):
        event = replace(event, message=None)
    elif isinstance(event, ToolExecutionStart) and event.parent_tool_call_id is None:
        event = replace(event, arguments=None)
    assert decode_record(encode_record(record, live=False)) == replace(record, event=event)


def test_a_record_is_one_flat_object() -> None:
    record = Record(3, AT, "fix", TurnEnd(2, BudgetAmounts(turns=2, tokens=10)))
    assert json.loads(encode_record(record, live=False)) == {
        "type": "turn_end",
        "seq": 3,
        "at": AT,
        "key": "fix",
        "turn": 2,
        "used": {"turns": 2, "tokens": 10, "cost_usd": None, "wall_s": None, "tool_calls": None},
    }


def test_messages_are_live_and_in_pi_form() -> None:
    record = Record(1, AT, "k", MessageEnd("00000001", "user", message=user_text("hi", 5)))
    assert json.loads(encode_record(record, live=True))["message"] == {
        "role": "user",
        "content": [{"type": "text", "text": "hi"}],
        "timestamp": 5,
    }
    assert "message" not in json.loads(encode_record(record, live=False))


def test_arguments_are_logged_for_inner_calls_only() -> None:
    outer = Record(1, AT, "k", ToolExecutionStart("c1", "bash", {"command": "ls"}))
    inner = Record(2, AT, "k", ToolExecutionStart("c2", "bash", {"command": "ls"}, parent_tool_call_id="c1"))
    assert "arguments" not in json.loads(encode_record(outer, live=False))
    assert json.loads(encode_record(outer, live=True))["arguments"] == {"command": "ls"}
    assert json.loads(encode_record(inner, live=False))["arguments"] == {"command": "ls"}


def test_live_only_events_are_told_apart() -> None:
    assert is_live_only(MessageUpdate("text", "x"))
    assert is_live_only(ToolExecutionUpdate("c", "x"))
    assert not is_live_only(TurnStart(1))


def test_an_event_of_an_unknown_type_comes_back_unchanged() -> None:
    line = '{"type":"teleport","seq":9,"at":"t","key":null,"where":{"x":[1,2]},"why":null}'
    record = decode_record(line)
    assert record.event == UnknownEvent("teleport", {"where": {"x": [1, 2]}, "why": None})
    assert encode_record(record, live=False) == line


def test_unknown_fields_are_ignored_and_absent_ones_take_their_default() -> None:
    line = '{"type":"agent_start","seq":1,"at":"t","key":"k","attempt":1,"mood":"good"}'
    assert encode_record(decode_record(line), live=False).count("mood") == 0
    line = '{"type":"task_end","seq":1,"at":"t","key":"k","duration_s":1,"working_s":1,"used":{}}'
    assert decode_record(line).event == TaskEnd(1, 1, BudgetAmounts())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "no whole JSON object"),
        ('{"seq":1,"at":"t","key":null}', "needs type, seq, at and key"),
        ('{"type":"turn_start","seq":"1","at":"t","key":null,"turn":1}', "needs type, seq"),
        ('{"type":"turn_start","seq":1,"at":"t","key":null}', "turn_start: lacks turn"),
        (
            '{"type":"turn_start","seq":1,"at":"t","key":null,"turn":"x"}',
            "turn_start.turn: got 'x', need int",
        ),
        ('{"type":"turn_start","seq":1,"at":"t","key":null,"turn":true}', "turn_start.turn: got True"),
        (
            '{"type":"agent_end","seq":1,"at":"t","key":"k","attempt":1,"stop":"bored","answer":null}',
            "agent_end.stop: got 'bored', need one of completed",
        ),
        (
            '{"type":"task_end","seq":1,"at":"t","key":"k","duration_s":1,"working_s":1,"used":[]}',
            "task_end.used: got [], need an object",
        ),
    ],
)
def test_a_known_event_that_is_damaged_is_an_error_that_names_the_field(line: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        decode_record(line)
    assert words in str(caught.value)


def log(path: Path, *lines: str, tail: str = "") -> Path:
    path.write_text("".join(f"{line}\n" for line in (header_line(), *lines)) + tail, encoding="utf-8")
    return path


def test_a_log_is_read_in_order_without_its_header(tmp_path: Path) -> None:
    records = [Record(n, AT, None, Warned(f"w{n}")) for n in (1, 2, 3)]
    path = log(tmp_path / "events.jsonl", *(encode_record(record, live=False) for record in records))
    assert list(read_log(path)) == records


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    line = encode_record(Record(1, AT, None, Warned("w")), live=False)
    path = log(tmp_path / "events.jsonl", line, tail=line[:20])
    assert len(list(read_log(path))) == 1


def test_separators_that_are_no_newline_do_not_end_a_line(tmp_path: Path) -> None:
    record = Record(1, AT, None, Warned("a\u2028b\x0bc\x85d"))
    path = log(tmp_path / "events.jsonl", encode_record(record, live=False))
    assert list(read_log(path)) == [record]


def test_an_empty_log_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"")
    assert list(read_log(path)) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"type":"session","version":3}\n', ":1: damaged event log: got a header of type 'session'"),
        ('{"type":"log","version":99}\n', "version 99, need 'log', 1"),
        ("hello\n", ":1: damaged event log"),
        (f"{header_line()}\nrubbish\n", ":2: damaged event log: no whole JSON object"),
    ],
)
def test_what_is_no_log_is_said_in_one_line(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        list(read_log(path))
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_log_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        list(read_log(tmp_path / "none.jsonl"))
