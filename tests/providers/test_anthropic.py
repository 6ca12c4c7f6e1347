"""The Messages API end to end, against a service that refuses what the real one refuses."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.errors import ErrorKind
from pi_batch.messages import TextBlock, ThinkingBlock, ToolCall, Usage, user_text
from tests.providers.asking import ask, failure, patience, provider, request, shown
from tests.providers.histories import result
from tests.servers import Call, LoopbackServer, Raw, Refuse, Reply, Wire
from tests.servers.messages_rules import signature_of
from tests.servers.script import Step

SONNET = "claude-sonnet-5"
TEXT = "Grüße, 世界 😀. " * 3


def wanted(*history: Any, **changes: Any) -> Any:
    return request(*history, **{"model": SONNET, **changes})


async def answer(step: Step, **changes: Any) -> Any:
    """The message that one step becomes."""
    async with LoopbackServer([step]) as server:
        asked = provider(server.url, "anthropic")
        _, message = await ask(asked, wanted(**changes))
        await asked.close()
        assert server.refused == []
        return message


async def refusal(step: Step) -> Any:
    """The error that one step becomes."""
    async with LoopbackServer([step]) as server:
        asked = provider(server.url, "anthropic", timeouts=patience(step))
        error = await failure(asked, wanted())
        await asked.close()
        return error


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


START = event(
    "message_start", message={"id": "m", "model": SONNET, "usage": {"input_tokens": 9, "output_tokens": 1}}
)
STOP = event("message_stop")


def ending(reason: str | None = "end_turn", **usage: int) -> dict[str, Any]:
    return event("message_delta", delta={"stop_reason": reason}, usage=usage)


async def test_text_thinking_and_calls_come_in_deltas_and_whole_at_the_end() -> None:
    step = Reply(TEXT, thinking="weil ß", redacted="ENC", calls=(Call("read", {"path": "ü"}), Call("ls")))
    async with LoopbackServer([step]) as server:
        asked = provider(server.url, "anthropic")
        deltas, message = await ask(asked, wanted())
        await asked.close()
    assert shown(deltas, "text") == TEXT
    assert shown(deltas, "thinking") == "weil ß"
    assert shown(deltas, "tool_call") == '{"path": "ü"}'
    assert message.content == (
        ThinkingBlock("weil ß", signature_of("weil ß")),
        ThinkingBlock("", "ENC", is_redacted=True),
        TextBlock(TEXT),
        ToolCall("toolu_0_read", "read", {"path": "ü"}),
        ToolCall("toolu_1_ls", "ls", {}),
    )
    assert (message.stop_reason, message.raw_stop_reason) == ("tool_use", "tool_use")
    assert (message.provider, message.model, message.api) == ("anthropic", SONNET, "anthropic-messages")
    assert message.response_id == "msg_loopback"


async def test_thinking_of_a_tool_turn_goes_back_or_is_refused() -> None:
    steps = [
        Reply(thinking="because", calls=(Call("ls"),)),
        Reply(thinking="still", redacted="ENC", calls=(Call("ls"),)),
        Reply("done"),
    ]
    async with LoopbackServer(steps) as server:
        asked = provider(server.url, "anthropic")
        history: list[Any] = [user_text("hi")]
        for _ in steps:
            changes = {"model": "claude-sonnet-4-5", "thinking": "low", "max_output_tokens": 8_000}
            _, message = await ask(asked, request(*history, **changes))
            history += [message, *(result(call.id, "x") for call in message.tool_calls)]
        await asked.close()
        assert server.refused == []
        assert server.requests[2].body["messages"][3]["content"][0]["thinking"] == "still"


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "stop"),
        ("tool_use", "stop"),
    ],
)
async def test_stop_reasons_become_one_set(reason: str, stop_reason: str) -> None:
    message = await answer(Reply("text", stop=reason))
    assert (message.stop_reason, message.raw_stop_reason) == (stop_reason, reason)


async def test_a_refusal_is_explained() -> None:
    assert (await answer(Reply("no", stop="refusal"))).error_message == "against the rules"


async def test_a_cut_reply_keeps_its_broken_call_as_text() -> None:
    message = await answer(Reply(calls=(Call("write", raw='{"path": "a'),), stop="max_tokens"))
    assert message.stop_reason == "length"
    assert (message.tool_calls[0].arguments, message.tool_calls[0].raw_arguments) == (None, '{"path": "a')


@pytest.mark.parametrize(
    ("reason", "kind", "is_retryable"),
    [
        ("model_context_window_exceeded", "context_overflow", False),
        ("telepathy", "bad_response", False),
        (None, "bad_response", True),
    ],
)
async def test_other_stop_reasons_are_errors_with_their_name(
    reason: str | None, kind: ErrorKind, is_retryable: bool
) -> None:
    error = await refusal(Raw(frames=(START, ending(reason, output_tokens=5), STOP)))
    assert (error.kind, error.is_retryable) == (kind, is_retryable)
    assert error.spent == Usage(9, 5)
    if kind == "bad_response":
        assert (repr(reason) if reason else "no stop_reason") in str(error)


async def test_usage_is_the_starts_with_what_the_end_replaces() -> None:
    reported = {
        "input_tokens": 10,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 90,
        "output_tokens": 57,
    }
    assert (await answer(Reply("x", usage=reported))).usage == Usage(10, 57, 900, 90)


async def test_a_proxy_that_leaves_usage_out_of_the_end_leaves_that_of_the_start() -> None:
    message = await answer(Reply("x", usage={"input_tokens": 10}, quirks=("no_delta_usage",)))
    assert message.usage == Usage(10, 1)


async def test_no_usage_at_all_is_none() -> None:
    assert (await answer(Reply("x", usage={"none": True}))).usage is None


@pytest.mark.parametrize("quirk", ["ping_each", "whole_input", "unknown_events"])
async def test_habits_of_servers_change_nothing(quirk: str) -> None:
    message = await answer(Reply(TEXT, calls=(Call("read", {"path": "a"}),), quirks=(quirk,)))
    assert message.text == TEXT
    assert message.tool_calls[0].arguments == {"path": "a"}


@pytest.mark.parametrize("call_id", ["", "toolu_1"])
async def test_ids_that_are_missing_or_were_there_before_are_made_up(call_id: str) -> None:
    step = Reply(calls=(Call("ls", id=call_id), Call("ls", id=call_id)))
    ids = [call.id for call in (await answer(step)).tool_calls]
    assert len(set(ids)) == 2
    assert all(ids)


@pytest.mark.parametrize(
    "wire",
    [
        Wire(crlf=True),
        Wire(bom=True),
        Wire(split_bytes=5),
        Wire(gzip=True),
        Wire(comment_every=2),
        Wire(drops_last_blank=True),
    ],
    ids=["crlf", "bom", "fives", "gzip", "comments", "no blank"],
)
async def test_however_the_bytes_travel_the_reply_is_the_same(wire: Wire) -> None:
    message = await answer(Reply(TEXT, thinking="ß", calls=(Call("read", {"path": "ü"}),), wire=wire))
    assert message.text == TEXT
    assert message.tool_calls[0].arguments == {"path": "ü"}


async def test_a_reply_in_one_piece_is_taken_though_a_stream_was_asked_for() -> None:
    body = (
        '{"type":"message","id":"m","model":"claude-x","content":[{"type":"thinking","thinking":"b","signature":"s"},'
        '{"type":"text","text":"hi"},{"type":"tool_use","id":"a","name":"ls","input":{"x":1}}],"stop_reason":"tool_use",'
        '"usage":{"input_tokens":3,"output_tokens":2}}'
    )
    message = await answer(Raw(body, wire=Wire(content_type="application/json")))
    assert message.content == (ThinkingBlock("b", "s"), TextBlock("hi"), ToolCall("a", "ls", {"x": 1}))
    assert (message.model, message.usage) == ("claude-x", Usage(3, 2))


async def test_a_stream_without_message_stop_is_no_reply() -> None:
    error = await refusal(Reply("text", usage={"input_tokens": 9, "output_tokens": 4}, quirks=("no_stop",)))
    assert (error.kind, error.is_retryable) == ("stream_interrupted", True)
    assert error.spent == Usage(9, 4)


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_break_in_a_call_executes_nothing_and_the_input_is_spent(how: Any) -> None:
    step = Reply(
        calls=(Call("bash", {"command": "rm -rf x"}),),
        usage={"input_tokens": 9},
        wire=Wire(cut_after=7, cut_how=how),
    )
    error = await refusal(step)
    assert (error.kind, error.is_retryable) == ("stream_interrupted", True)
    assert error.spent == Usage(9, 1)


async def test_pings_do_not_keep_a_stalled_stream_alive() -> None:
    wire = Wire(stall_after=5, stall_s=5, keepalive='event: ping\ndata: {"type": "ping"}\n\n')
    error = await refusal(Reply(TEXT, wire=wire))
    assert (error.kind, error.is_retryable) == ("timeout", True)


@pytest.mark.parametrize("place", [0, 1, 3])
async def test_an_error_event_counts_whenever_it_comes(place: int) -> None:
    error_event = (
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    )
    frames: list[Any] = [
        START,
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "so far"}),
    ]
    frames.insert(place, error_event)
    error = await refusal(Raw(frames=tuple(frames)))
    assert (error.kind, error.is_retryable) == ("overloaded", True)
    assert error.spent == (Usage(9, 1) if place else None)


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected", "is_retryable"),
    [
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 5 maximum", "context_overflow", False),
        (413, "request_too_large", "Request exceeds the maximum size", "request_too_large", False),
        (401, "authentication_error", "invalid x-api-key", "auth", False),
        (404, "not_found_error", "model: claude-x", "model_not_found", False),
        (529, "overloaded_error", "Overloaded", "overloaded", True),
    ],
)
async def test_refusals_have_their_kind(
    status: int, kind: str, message: str, expected: ErrorKind, is_retryable: bool
) -> None:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"}
    error = await refusal(Refuse(status, body))
    assert (error.kind, error.is_retryable, error.status) == (expected, is_retryable, status)
    assert message in str(error)


async def test_events_of_odd_shapes_do_no_harm() -> None:
    frames = (
        event("message_start"),
        event("message_start", message={"usage": None, "model": 3}),
        event("content_block_start", index="0", content_block={}),
        event("content_block_start", index=0, content_block=None),
        event("content_block_start", index=0, content_block={"type": "text", "text": "fi"}),
        event("content_block_start", index=1, content_block={"type": "server_tool_use", "id": "x"}),
        event("content_block_delta", index=0, delta=None),
        event("content_block_delta", index=7, delta={"type": "text_delta", "text": "lost"}),
        event("content_block_delta", index=0, delta={"type": "citations_delta", "citation": {}}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "ne"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": None}),
        event("message_delta", delta=None, usage=None),
        {"no": "type"},
        ending(),
        STOP,
    )
    message = await answer(Raw(frames=frames))
    assert message.content == (TextBlock("fine"),)
    assert message.model == SONNET
