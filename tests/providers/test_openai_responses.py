"""The Responses API end to end, against a service that refuses what the real one refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pi_batch.errors import ErrorKind
from pi_batch.messages import TextBlock, Usage, user_text
from pi_batch.providers import apis
from pi_batch.session.from_json import message_from_json
from pi_batch.session.to_json import message_to_json
from tests.providers.asking import NOW, ask, failure, patience, provider, request, shown
from tests.providers.histories import IMAGE, result
from tests.servers import Call, LoopbackServer, Raw, Reply, Wire
from tests.servers.responses_rules import encrypted_of, reasoning_id
from tests.servers.script import Step

TEXT = "Grüße, 世界 😀. " * 3
MODEL = "gpt-5.6"
CALLS = (Call("read", {"path": "ü"}), Call("ls"))


async def answer(step: Step, **changes: Any) -> Any:
    """The message that one step becomes."""
    async with LoopbackServer([step]) as server:
        asked = provider(server.url, "openai")
        _, message = await ask(asked, request(**{"model": MODEL, **changes}))
        await asked.close()
        assert server.refused == []
        return message


async def refusal(step: Step) -> Any:
    """The error that one step becomes."""
    async with LoopbackServer([step]) as server:
        asked = provider(server.url, "openai", timeouts=patience(step))
        error = await failure(asked, request(model=MODEL))
        await asked.close()
        return error


def event(name: str, **fields: Any) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n"


def ended(name: str = "completed", **fields: Any) -> str:
    return event(f"response.{name}", response={"id": "r", "status": name, "output": [], **fields})


async def test_text_comes_in_deltas_and_whole_at_the_end() -> None:
    async with LoopbackServer([Reply(TEXT, model="gpt-5.6-sol")]) as server:
        asked = provider(server.url, "openai")
        deltas, message = await ask(asked, request(model=MODEL))
        await asked.close()
        assert server.requests[0].path == "/v1/responses"
        assert server.requests[0].headers["authorization"].startswith("Bearer sk-test")
    assert shown(deltas, "text") == TEXT
    assert len(deltas) > 3
    assert message.content == (TextBlock(TEXT, '{"v":1,"id":"msg_loopback"}'),)
    assert (message.stop_reason, message.raw_stop_reason) == ("stop", "completed")
    assert (message.provider, message.model, message.api) == ("openai", "gpt-5.6-sol", apis.RESPONSES)
    assert (message.response_id, message.timestamp_ms) == ("resp_loopback", NOW * 1000)


async def test_a_turn_with_reasoning_calls_and_phases_goes_on_after_a_session_was_read_again() -> None:
    """What the service wants back survives pi's file format."""
    steps = [Reply("Reading.", thinking="because", calls=CALLS, quirks=("phases",)), Reply("done")]
    async with LoopbackServer(steps) as server:
        asked = provider(server.url, "openai")
        deltas, first = await ask(asked, request(model=MODEL, thinking="low"))
        assert shown(deltas, "thinking") == "because"
        assert json.loads(shown(deltas, "tool_call")[:13]) == {"path": "ü"}
        assert [(c.name, c.arguments) for c in first.tool_calls] == [("read", {"path": "ü"}), ("ls", {})]
        again: Any = message_from_json(json.loads(json.dumps(message_to_json(first))))
        assert again.content == first.content
        results = [result("call_0_read", "text", IMAGE), result("call_1_ls", "", is_error=True)]
        _, second = await ask(asked, request(user_text("hi"), again, *results, model=MODEL))
        await asked.close()
        assert server.refused == []
        sent = server.requests[1].body["input"]
    assert second.text == "done"
    assert [item["type"] for item in sent] == [
        "message", "reasoning", "message", "function_call", "function_call",
        "function_call_output", "function_call_output",
    ]  # fmt: skip
    assert sent[1]["encrypted_content"] == encrypted_of("because")
    assert sent[2]["phase"] == "commentary"


async def test_encrypted_content_that_comes_only_with_the_end_is_kept() -> None:
    """earendil-works/pi#6608."""
    message = await answer(Reply("t", thinking="because", quirks=("late_encrypted",)))
    kept = json.loads(message.content[0].signature)
    assert (kept["id"], kept["encrypted_content"]) == (reasoning_id("because"), encrypted_of("because"))


async def test_the_encrypted_content_of_an_item_that_was_never_finished_does_not_count() -> None:
    message = await answer(Reply("t", thinking="why", quirks=("no_item_done", "empty_output")))
    assert message.content[0].thinking == "why"
    assert message.content[0].signature is None


@pytest.mark.parametrize(
    "quirks",
    [
        ("no_ids",),
        ("same_id",),
        ("out_of_order",),
        ("no_index",),
        ("empty_output",),
        ("no_item_done",),
        ("unknown_events",),
        ("out_of_order", "no_index"),
    ],
)
async def test_calls_survive_the_habits_of_imitators(quirks: tuple[str, ...]) -> None:
    wanted = (Call("read", {"path": "a" * 30}), Call("read", {"path": "b" * 30}), Call("grep", {"p": "x"}))
    message = await answer(Reply("Hm.", thinking="why", calls=wanted, quirks=quirks))
    found = [(c.name, c.arguments) for c in message.tool_calls]
    assert sorted(map(str, found)) == sorted(str((c.name, dict(c.arguments))) for c in wanted)
    if quirks != ("out_of_order", "no_index"):
        assert [type(block).__name__ for block in message.content[:2]] == ["ThinkingBlock", "TextBlock"]
        assert [name for name, _ in found] == ["read", "read", "grep"]
    assert len({call.id for call in message.tool_calls}) == 3
    assert all(call.id for call in message.tool_calls)
    assert message.stop_reason == "tool_use"


async def test_a_call_that_is_unfinished_in_a_finished_reply_is_an_error() -> None:
    error = await refusal(Reply(calls=CALLS, quirks=("no_item_done", "empty_output")))
    assert (error.kind, error.is_retryable) == ("bad_response", True)


@pytest.mark.parametrize(
    ("stop", "stop_reason"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
async def test_an_incomplete_reply_has_the_reason_for_its_end(stop: str, stop_reason: str) -> None:
    message = await answer(Reply("half of", stop=stop))
    assert (message.text, message.stop_reason, message.raw_stop_reason) == ("half of", stop_reason, stop)


async def test_a_cut_reply_keeps_its_broken_call_as_text() -> None:
    call = Call("write", raw='{"path": "doc.md", "content": "# Ti')
    step = Reply(calls=(call,), stop="max_output_tokens", quirks=("no_item_done", "empty_output"))
    message = await answer(step)
    assert message.stop_reason == "length"
    assert message.tool_calls[0].arguments is None
    assert message.tool_calls[0].raw_arguments == call.raw


async def test_a_refusal_is_filtered_content() -> None:
    message = await answer(Reply("I can't.", quirks=("refusal",)))
    assert (message.text, message.stop_reason, message.raw_stop_reason) == (
        "I can't.",
        "content_filter",
        "refusal",
    )


async def test_arguments_that_are_no_object_are_kept_as_they_came() -> None:
    message = await answer(Reply(calls=(Call("read", raw="[1]"), Call("ls", raw=""))))
    assert [(c.arguments, c.raw_arguments) for c in message.tool_calls] == [(None, "[1]"), ({}, "")]


async def test_usage_is_four_disjoint_numbers_and_the_reasoning_in_the_output() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 40},
    }
    assert (await answer(Reply("x", usage=usage))).usage == Usage(10, 50, 60, 30, 40)
    assert (await answer(Reply("x", usage={"none": True}))).usage is None


@pytest.mark.parametrize(
    ("frames", "kind", "is_retryable"),
    [
        (("no_finish",), "stream_interrupted", True),
        (event("error", code="server_error", message="boom"), "server_error", True),
        (event("error", code="rate_limit_exceeded", message="slow down"), "rate_limit", True),
        (event("error", error={"code": "insufficient_quota", "message": "spent"}), "quota", False),
        (ended("failed", error={"code": "server_error", "message": "x"}), "server_error", True),
        (ended("failed", error={"code": "rate_limit_exceeded", "message": "x"}), "rate_limit", True),
        (ended("failed", error={"code": "invalid_prompt", "message": "x"}), "invalid_request", False),
        (ended("failed", error={"code": "bio_policy", "message": "x"}), "content_filter", False),
        (ended("failed", error={"code": "image_too_large", "message": "x"}), "invalid_request", False),
        (
            ended("failed", error={"code": "context_length_exceeded", "message": "x"}),
            "context_overflow",
            False,
        ),
        (ended("failed"), "server_error", True),
        (ended("incomplete"), "bad_response", False),
        (ended("incomplete", incomplete_details={"reason": "whim"}), "bad_response", False),
        (ended("completed", status="cancelled"), "bad_response", False),
        ("data: [DONE]\n\n", "stream_interrupted", True),
        ('data: {"type": "error", "code": "insufficient_quota", "message": "x"}\n\n', "quota", False),
    ],
)
async def test_what_is_no_good_end_is_an_error_of_its_kind(
    frames: Any, kind: ErrorKind, is_retryable: bool
) -> None:
    step: Step = Reply("text", quirks=frames) if isinstance(frames, tuple) else Raw(frames=(frames,))
    error = await refusal(step)
    assert (error.kind, error.is_retryable) == (kind, is_retryable), str(error)


async def test_the_error_of_a_failed_reply_knows_what_was_spent() -> None:
    failed = ended(
        "failed",
        error={"code": "server_error", "message": "x"},
        usage={"input_tokens": 7, "output_tokens": 3},
    )
    assert (await refusal(Raw(frames=(failed,)))).spent == Usage(7, 3)


@pytest.mark.parametrize(
    "wire",
    [
        Wire(crlf=True),
        Wire(split_bytes=1),
        Wire(split_bytes=7, crlf=True, bom=True),
        Wire(gzip=True),
        Wire(comment_every=1),
        Wire(drops_last_blank=True),
        Wire(content_type="text/plain"),
    ],
)
async def test_a_reply_survives_what_proxies_do_to_its_bytes(wire: Wire) -> None:
    message = await answer(Reply(TEXT, thinking="weil ü", calls=CALLS, wire=wire))
    assert message.text == TEXT
    assert [call.arguments for call in message.tool_calls] == [{"path": "ü"}, {}]


async def test_a_reply_in_one_piece_is_read() -> None:
    document = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "model": "m",
        "output": [
            {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "hi"}]},
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c1",
                "name": "read",
                "arguments": '{"path":"a"}',
            },
            {"type": "web_search_call", "id": "ws_1"},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    wire = Wire(content_type="application/json")
    message = await answer(Raw(body=json.dumps(document), wire=wire))
    assert (message.text, message.stop_reason, message.usage) == ("hi", "tool_use", Usage(3, 2))
    assert message.tool_calls[0].id == "c1"
    failed = {**document, "status": "failed", "error": {"code": "server_error", "message": "x"}}
    assert (await refusal(Raw(body=json.dumps(failed), wire=wire))).kind == "server_error"


async def test_a_wire_that_breaks_after_the_end_loses_nothing() -> None:
    assert (await answer(Reply("all of it", wire=Wire(hangs_at_end=0.2)))).text == "all of it"


async def test_odd_events_break_nothing() -> None:
    frames = (
        event("response.output_text.delta", delta="he", output_index=3),
        event("response.output_text.delta", delta=None, output_index=3),
        event("response.output_item.added", item=None, output_index=4),
        event("response.output_item.added", item={"type": "web_search_call"}, output_index=5),
        event("response.output_text.delta", delta="llo", output_index=3),
        event("response.created", response=None),
        ended(),
    )
    message = await answer(Raw(frames=frames))
    assert (message.content, message.usage) == ((TextBlock("hello"),), None)
