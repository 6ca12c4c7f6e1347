"""Messages: each kind there and back, and every way a field can be wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pi_batch.codemode.values import (
    MAX_ERROR_CHARS,
    MAX_STORE_CHARS,
    MAX_STORE_VALUE_CHARS,
    CallReply,
    ScriptEnd,
    ScriptError,
    ScriptRequest,
    ToolSignature,
)
from pi_batch.codemode.worker.frames import FrameError, encoded
from pi_batch.codemode.worker.wire import (
    Call,
    Image,
    Message,
    Output,
    Ready,
    message_from,
    message_json,
    reply_from,
    reply_json,
    request_from,
    request_json,
)
from tests.codemode.worker.test_frames import ANY_TEXT, JSON

COMPLETED = ScriptEnd("completed", [1, None], has_value=True, store={"k": {"a": 1}}, notes=("one",))
FAILED = ScriptEnd("failed", error=ScriptError("KeyError", "line 3: 'x'", 3))
MESSAGES = [
    Ready(("process", "seccomp"), None),
    Ready((), "no seccomp"),
    Call(1, "read", {"path": "a\ud800"}),
    Output("text\n"),
    Image("aGk=", "image/png"),
    COMPLETED,
    FAILED,
    ScriptEnd("completed"),
]


def body_of(value: Any) -> bytes:
    return encoded(value)[4:]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_arrives_as_it_was(message: Message) -> None:
    assert message_from(body_of(message_json(message))) == message


def test_a_request_arrives_as_it_was() -> None:
    tool = ToolSignature("read", ("path", "offset"), ("path",), "read(path: str) -> str", "Reads.")
    request = ScriptRequest("return 1", (tool, replace(tool, name="ls")), {"k": [1]}, 5.5, 10, 2)
    assert request_from(json.loads(body_of(request_json(request)))) == request


def test_a_reply_arrives_as_it_was() -> None:
    for reply in (CallReply(3, value={"a": [1]}), CallReply(4, error="no such file", error_kind="failed")):
        assert reply_from(json.loads(body_of(reply_json(reply)))) == reply


@pytest.mark.parametrize(
    "value", [None, [], "x", 1, True, {}, {"kind": 1}, {"kind": "reply"}, {"kind": ["call"]}]
)
def test_what_is_no_message_is_refused(value: Any) -> None:
    with pytest.raises(FrameError):
        message_from(body_of(value))


WRONG: dict[str, list[Any]] = {
    "id": [0.0, 1.0, "1", None, True, -1, 1 << 31, [1]],
    "name": [1, None, ["read"], "n" * 201],
    "arguments": [None, [], "x", 1],
    "text": [None, 1, ["a"], {"a": 1}],
    "data": [None, 5, ["aGk="]],
    "mime_type": [None, 5, "m" * 201],
    "layers": [None, "abc", [1], ["x"] * 21, ["x" * 201], {"a": 1}],
    "refusal": [1, [], "r" * (MAX_ERROR_CHARS + 1)],
    "status": [None, "passed", 1, True],
    "has_value": [0, 1, None, "true"],
    "error": [[], "text", 1, {}, {"type": "E", "text": "t"}, {"type": "E", "text": 1, "line": None}],
    "store": [[], "x", 1, {"k" * 201: 1}],
    "notes": [None, "abc", [1], ["n"] * 51, ["n" * 1001]],
}


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_every_field_must_be_there_and_have_its_exact_type(message: Message) -> None:
    fields = message_json(message)
    for name in fields.keys() - {"kind"}:
        for value in WRONG.get(name, []):
            with pytest.raises(FrameError):
                message_from(body_of({**fields, name: value}))
        with pytest.raises(FrameError):
            message_from(body_of({key: fields[key] for key in fields.keys() - {name}}))


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from([*WRONG, "kind"]) | ANY_TEXT, JSON, max_size=8))
def test_whatever_comes_is_a_message_or_a_frame_error(fields: dict[str, Any]) -> None:
    for kind in ("ready", "call", "output", "image", "end", None):
        try:
            message_from(body_of({**fields, "kind": kind} if kind else fields))
        except FrameError:
            continue


def test_an_error_and_a_completed_script_exclude_each_other() -> None:
    for end in (replace(COMPLETED, error=FAILED.error), replace(FAILED, error=None)):
        with pytest.raises(FrameError, match="disagree"):
            message_from(body_of(message_json(end)))


def test_a_failed_script_stores_nothing() -> None:
    end = message_from(body_of(message_json(replace(FAILED, store={"k": 1}))))
    assert isinstance(end, ScriptEnd)
    assert end.store is None


@pytest.mark.parametrize(
    "store",
    [
        {"k": "x" * MAX_STORE_VALUE_CHARS},
        {str(number): "x" * (MAX_STORE_VALUE_CHARS - 2) for number in range(5)},
        {"k" * 201: 1},
    ],
    ids=["value", "all", "key"],
)
def test_the_stores_limits_are_held_again(store: dict[str, Any]) -> None:
    with pytest.raises(FrameError, match="a store beyond its limits"):
        message_from(body_of(message_json(replace(COMPLETED, store=store))))


def test_a_store_at_its_limits_is_taken() -> None:
    store = {"a": "x" * (MAX_STORE_VALUE_CHARS - 2), "b": "é" * (MAX_STORE_VALUE_CHARS - 2)}
    assert sum(len(value) for value in store.values()) < MAX_STORE_CHARS
    end = message_from(body_of(message_json(replace(COMPLETED, store=store))))
    assert isinstance(end, ScriptEnd)
    assert end.store == store


def test_a_call_has_a_smaller_limit_than_a_result() -> None:
    big = "x" * (4 * 1024 * 1024)
    with pytest.raises(FrameError, match="a call of"):
        message_from(body_of(message_json(Call(1, "write", {"content": big}))))
    assert message_from(body_of(message_json(Output(big)))) == Output(big)


def test_a_worker_cuts_its_own_long_notes() -> None:
    end = message_from(body_of(message_json(ScriptEnd("completed", notes=("x" * 2000,) * 100))))
    assert isinstance(end, ScriptEnd)
    assert [len(note) for note in end.notes] == [1000] * 50


def test_a_worker_cuts_its_own_long_error_texts() -> None:
    end = ScriptEnd("failed", error=ScriptError("E" * 300, "x" * 10_000))
    arrived = message_from(body_of(message_json(end)))
    assert isinstance(arrived, ScriptEnd)
    assert arrived.error is not None
    assert (len(arrived.error.type), len(arrived.error.text)) == (200, MAX_ERROR_CHARS)
