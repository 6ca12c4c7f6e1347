"""Gemini end to end, against a service that refuses what the real one refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pi_batch.errors import ErrorKind
from pi_batch.messages import TextBlock, ThinkingBlock, ToolDeclaration, Usage, user_text
from pi_batch.providers import apis
from pi_batch.session.from_json import message_from_json
from pi_batch.session.to_json import message_to_json
from tests.providers.asking import KEY, NOW, ask, failure, patience, provider, request, shown
from tests.providers.histories import IMAGE, result
from tests.servers import Call, LoopbackServer, Raw, Refuse, Reply, Wire
from tests.servers.gemini_rules import signature_of
from tests.servers.script import Step

TEXT = "Grüße, 世界 😀. " * 3
MODEL = "gemini-3.1-pro"
CALLS = (Call("read", {"path": "ü"}), Call("ls"))


async def answer(step: Step, **changes: Any) -> Any:
    """The message that one step becomes."""
    async with LoopbackServer([step]) as server:
        asked = provider(server.url, "google")
        _, message = await ask(asked, request(**{"model": MODEL, **changes}))
        await asked.close()
        assert server.refused == []
        return message


async def refusal(step: Step, **rest: Any) -> Any:
    """The error that one step becomes."""
    async with LoopbackServer([step], key=KEY) as server:
        asked = provider(server.url, "google", timeouts=patience(step), **rest)
        error = await failure(asked, request(model=MODEL))
        await asked.close()
        return error


def chunk(*parts: Any, finish: str | None = None, **rest: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **rest}


async def test_text_comes_in_deltas_and_whole_at_the_end_with_its_signature_apart() -> None:
    async with LoopbackServer([Reply(TEXT, model="gemini-3.1-pro-001")], key=KEY) as server:
        asked = provider(server.url, "google")
        deltas, message = await ask(asked, request(model=MODEL))
        await asked.close()
        path = server.requests[0].path
        assert path == f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
        assert server.requests[0].headers["x-goog-api-key"] == KEY
    assert shown(deltas, "text") == message.text == TEXT
    assert len(deltas) > 3
    assert message.content == (TextBlock(TEXT), TextBlock("", signature_of({"text": ""})))
    assert (message.stop_reason, message.raw_stop_reason) == ("stop", "STOP")
    assert (message.provider, message.model, message.api) == ("google", "gemini-3.1-pro-001", apis.GEMINI)
    assert (message.requested_model, message.response_id) == (MODEL, "resp-loopback")
    assert message.timestamp_ms == NOW * 1000


async def test_a_turn_with_thoughts_and_calls_goes_on_after_a_session_was_read_again() -> None:
    """mpfaffenberger/code_puppy#165: what was signed goes back signed, out of pi's file format, too."""
    steps = [
        Reply("Reading.", thinking="because", calls=CALLS, quirks=("signed_text", "signed_thought")),
        Reply("done"),
    ]
    async with LoopbackServer(steps) as server:
        asked = provider(server.url, "google")
        deltas, first = await ask(asked, request(model=MODEL, thinking="low"))
        assert shown(deltas, "thinking") == "because"
        assert [(c.name, c.arguments) for c in first.tool_calls] == [("read", {"path": "ü"}), ("ls", {})]
        assert first.stop_reason == "tool_use"
        again: Any = message_from_json(json.loads(json.dumps(message_to_json(first))))
        assert again == first
        results = [
            result("fc-0-read", "text", IMAGE),
            result("fc-1-ls", "", is_error=True, name="ls"),
        ]
        history = (user_text("hi"), again, *results)
        _, second = await ask(asked, request(*history, model=MODEL))
        await asked.close()
        assert server.refused == []
        parts = server.requests[1].body["contents"][1]["parts"]
    assert second.text == "done"
    assert [(part.get("thought"), "thoughtSignature" in part) for part in parts] == [
        (True, True),
        (None, True),
        (None, True),
        (None, False),
    ]


async def test_a_signed_part_is_a_block_of_its_own() -> None:
    frames = (
        chunk({"text": "a"}),
        chunk({"text": "b"}),
        chunk({"text": "c", "thoughtSignature": "S1"}),
        chunk({"text": "d"}, {"text": "e", "thought": True}),
        chunk({"text": ""}, {"text": "f", "thought": True, "thoughtSignature": "S2"}),
        chunk({"text": "", "thoughtSignature": "S3"}, finish="STOP"),
    )
    assert (await answer(Raw(frames=frames))).content == (
        TextBlock("ab"),
        TextBlock("c", "S1"),
        TextBlock("d"),
        ThinkingBlock("e"),
        ThinkingBlock("f", "S2"),
        TextBlock("", "S3"),
    )


@pytest.mark.parametrize("model", ["gemini-2.5-flash", MODEL])
@pytest.mark.parametrize("quirks", [(), ("no_ids",), ("same_id",)])
async def test_every_call_has_an_id_of_its_own(quirks: tuple[str, ...], model: str) -> None:
    message = await answer(Reply(calls=(*CALLS, Call("ls")), quirks=quirks), model=model)
    assert [c.name for c in message.tool_calls] == ["read", "ls", "ls"]
    assert len({call.id for call in message.tool_calls}) == 3
    assert all(call.id for call in message.tool_calls)


async def test_older_models_go_on_by_the_order_of_their_calls() -> None:
    async with LoopbackServer([Reply(calls=CALLS), Reply("done")]) as server:
        asked = provider(server.url, "google")
        _, first = await ask(asked, request(model="gemini-2.5-flash"))
        results = [result(call.id, "x", IMAGE, name=call.name) for call in first.tool_calls]
        await ask(asked, request(user_text("hi"), first, *results, model="gemini-2.5-flash"))
        await asked.close()
        assert server.refused == []


async def test_a_tool_keeps_its_name_though_gemini_takes_another() -> None:
    tools = (ToolDeclaration("7zip", "d", {}),)
    message = await answer(Reply(calls=(Call("_7zip"), Call("other"))), tools=tools)
    assert [call.name for call in message.tool_calls] == ["7zip", "other"]


async def test_arguments_that_are_no_object_are_kept_as_they_came() -> None:
    message = await answer(Reply(calls=(Call("read", raw="[1]"), Call("ls", raw="null"))))
    assert [(c.arguments, c.raw_arguments) for c in message.tool_calls] == [(None, "[1]"), ({}, "")]


@pytest.mark.parametrize(
    ("word", "stop_reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        *((word, "content_filter") for word in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT")),
        ("SPII", "content_filter"),
    ],
)
async def test_finish_reasons_become_one_set(word: str, stop_reason: str) -> None:
    message = await answer(Reply("text", stop=word))
    assert (message.text, message.stop_reason, message.raw_stop_reason) == ("text", stop_reason, word)


@pytest.mark.parametrize(
    ("word", "is_retryable"),
    [
        ("MALFORMED_FUNCTION_CALL", True),
        ("UNEXPECTED_TOOL_CALL", True),
        ("MALFORMED_RESPONSE", True),
        ("OTHER", True),
        ("MISSING_THOUGHT_SIGNATURE", False),
        ("TOO_MANY_TOOL_CALLS", False),
        ("FINISH_REASON_UNSPECIFIED", False),
        ("WHIM", False),
    ],
)
async def test_any_other_finish_reason_is_an_error_with_its_name(word: str, is_retryable: bool) -> None:
    error = await refusal(Reply("text", stop=word))
    assert (error.kind, error.is_retryable) == ("bad_response", is_retryable)
    assert word in str(error)


async def test_a_blocked_prompt_is_filtered_content_that_says_so() -> None:
    message = await answer(Reply(quirks=("blocked",), stop="PROHIBITED_CONTENT"))
    assert (message.content, message.stop_reason) == ((), "content_filter")
    assert message.error_message == "the prompt was blocked: PROHIBITED_CONTENT"


async def test_usage_is_four_disjoint_numbers_and_the_last_one_counts() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 50,
        "thoughtsTokenCount": 40,
    }
    assert (await answer(Reply("x" * 50, usage=usage))).usage == Usage(45, 90, 60, 0, 40)
    assert (await answer(Reply("x", usage={"none": True}))).usage is None
    growing = (
        chunk({"text": "a"}, usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 1}),
        chunk({"text": "b"}, finish="STOP"),
        {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 7}},
    )
    assert (await answer(Raw(frames=growing))).usage == Usage(9, 7)


def fault(code: int, status: str, message: str, **detail: Any) -> dict[str, Any]:
    return {"error": {"code": code, "status": status, "message": message, "details": [detail]}}


QUOTA = "You exceeded your current quota, please check your plan and billing details."
PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
PER_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]}
RETRY = {"retryDelay": "36.5s"}


@pytest.mark.parametrize(
    ("step", "kind", "wait_s"),
    [
        (Refuse(429, fault(429, "RESOURCE_EXHAUSTED", QUOTA, **PER_MINUTE, **RETRY)), "rate_limit", 36.5),
        (Refuse(429, fault(429, "RESOURCE_EXHAUSTED", QUOTA, **PER_DAY, **RETRY)), "rate_limit", 36.5),
        (Refuse(429, fault(429, "RESOURCE_EXHAUSTED", QUOTA, **PER_MINUTE)), "rate_limit", None),
        (Refuse(429, fault(429, "RESOURCE_EXHAUSTED", QUOTA)), "rate_limit", None),
        (Refuse(429, fault(429, "RESOURCE_EXHAUSTED", QUOTA, **PER_DAY)), "quota", None),
        (Refuse(429, [fault(429, "RESOURCE_EXHAUSTED", QUOTA, **RETRY)]), "rate_limit", 36.5),
        (Refuse(503, fault(503, "UNAVAILABLE", "The model is overloaded.")), "overloaded", None),
        (Refuse(500, fault(500, "INTERNAL", "An internal error")), "server_error", None),
        (Refuse(504, fault(504, "DEADLINE_EXCEEDED", "too slow")), "timeout", None),
        (Refuse(400, fault(400, "INVALID_ARGUMENT", "nonsense")), "invalid_request", None),
        (
            Refuse(404, fault(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta")),
            "model_not_found",
            None,
        ),
        (Raw(frames=(chunk({"text": "a"}), fault(503, "UNAVAILABLE", "x"))), "overloaded", None),
        (Raw(frames=(fault(429, "RESOURCE_EXHAUSTED", QUOTA, **RETRY),)), "rate_limit", 36.5),
        (Raw(frames=(fault(500, "INTERNAL", "x"),)), "server_error", None),
        (Raw(frames=(chunk({"text": "a"}),)), "stream_interrupted", None),
        (Raw(frames=(chunk({"text": "a"}), {"usageMetadata": {}})), "stream_interrupted", None),
        (Raw(frames=(chunk({"functionCall": {"name": "ls"}}),)), "stream_interrupted", None),
        (Raw(body="<html><title>Sorry</title>"), "bad_response", None),
    ],
)
async def test_faults_are_read_as_google_words_them(
    step: Step, kind: ErrorKind, wait_s: float | None
) -> None:
    error = await refusal(step)
    assert (error.kind, error.retry_after_s) == (kind, wait_s), str(error)
    final = ("quota", "invalid_request", "model_not_found")
    assert error.is_retryable == (kind not in final)


async def test_a_wrong_key_and_a_missing_one_are_told_with_the_variable() -> None:
    for key, status in (("sk-wrong-12345", 400), (None, 403)):
        error = await refusal(Reply("never"), api_key=key, key_variable="GEMINI_API_KEY")
        assert (error.kind, error.status, error.is_retryable) == ("auth", status, False)
        assert str(error).endswith("; check GEMINI_API_KEY")


@pytest.mark.parametrize(
    "wire",
    [
        Wire(split_bytes=1),
        Wire(split_bytes=7, bom=True),
        Wire(gzip=True),
        Wire(drops_last_blank=True),
        Wire(comment_every=1),
        Wire(content_type="application/octet-stream"),
    ],
)
async def test_a_reply_survives_what_proxies_do_to_its_bytes(wire: Wire) -> None:
    message = await answer(Reply(TEXT, thinking="weil ü", calls=CALLS, wire=wire))
    assert message.text == TEXT
    assert [call.arguments for call in message.tool_calls] == [{"path": "ü"}, {}]


async def test_a_reply_in_one_piece_is_read() -> None:
    document = chunk({"text": "hi"}, {"functionCall": {"name": "ls", "args": {}}}, finish="STOP")
    message = await answer(Raw(body=json.dumps(document), wire=Wire(content_type="application/json")))
    assert (message.text, message.stop_reason) == ("hi", "tool_use")


async def test_odd_chunks_break_nothing() -> None:
    frames: tuple[Any, ...] = (
        {"candidates": None},
        {"candidates": [None], "promptFeedback": {"blockReason": ""}},
        {"candidates": [{"content": None}]},
        {"candidates": [{"content": {"parts": [None, {"inlineData": {}}, {"text": 5}]}}]},
        chunk({"text": "hello"}, finish="STOP"),
        "data: [DONE]\n\n",
    )
    assert (await answer(Raw(frames=frames))).content == (TextBlock("hello"),)
