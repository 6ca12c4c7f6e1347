"""Chat Completions end to end, against a service that refuses what the real ones refuse."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.errors import ErrorKind
from pi_batch.messages import TextBlock, ThinkingBlock, ToolCall, Usage, user_text
from tests.providers.asking import NOW, ask, failure, patience, provider, request, shown
from tests.providers.histories import result
from tests.servers import Call, LoopbackServer, Raw, Reply, Wire
from tests.servers.script import Step

TEXT = "Grüße, 世界 😀. " * 3


def chunk(delta: dict[str, Any], finish: str | None = None, **rest: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "model": "m", "choices": [choice], **rest}


async def answer(step: Step, service: str = "openai-chat", **changes: Any) -> Any:
    """The message that one step becomes."""
    profile = service if service in ("deepseek", "openrouter", "mistral") else "openai"
    async with LoopbackServer([step], profile=profile) as server:
        asked = provider(server.url, service)
        _, message = await ask(asked, request(**changes))
        await asked.close()
        assert server.refused == []
        return message


async def refusal(step: Step, **changes: Any) -> Any:
    """The error that one step becomes."""
    async with LoopbackServer([step]) as server:
        asked = provider(server.url, timeouts=patience(step))
        error = await failure(asked, request(**changes))
        await asked.close()
        return error


async def test_text_comes_in_deltas_and_whole_at_the_end() -> None:
    async with LoopbackServer([Reply(TEXT, model="gpt-4.1-2025-04-14")]) as server:
        asked = provider(server.url)
        deltas, message = await ask(asked, request())
        await asked.close()
    assert shown(deltas, "text") == TEXT
    assert len(deltas) > 3
    assert message.content == (TextBlock(TEXT),)
    assert (message.stop_reason, message.raw_stop_reason) == ("stop", "stop")
    assert (message.provider, message.model) == ("openai-chat", "gpt-4.1-2025-04-14")
    assert (message.api, message.response_id) == ("openai-completions", "chatcmpl-loopback")
    assert message.timestamp_ms == NOW * 1000
    assert message.usage is not None
    assert message.usage.output_tokens > 0
    assert message.cost_usd is None


async def test_calls_come_whole_with_their_arguments() -> None:
    step = Reply("Reading.", calls=(Call("read", {"path": "a"}), Call("ls", {}, raw="")))
    message = await answer(step)
    assert message.stop_reason == "tool_use"
    assert [(call.name, call.arguments) for call in message.tool_calls] == [
        ("read", {"path": "a"}),
        ("ls", {}),
    ]
    assert message.text == "Reading."


async def test_a_conversation_goes_on_over_one_connection() -> None:
    steps = [Reply(calls=(Call("read", {"path": "a"}),)), Reply("done")]
    async with LoopbackServer(steps) as server:
        asked = provider(server.url)
        _, first = await ask(asked, request())
        history = (user_text("hi"), first, result(first.tool_calls[0].id, "text of a"))
        _, second = await ask(asked, request(*history))
        await asked.close()
        assert server.refused == []
        sent = server.requests[1].body["messages"]
    assert second.text == "done"
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize(
    "quirks",
    [
        ("no_ids",),
        ("same_id",),
        ("same_index",),
        ("repeats_names",),
        ("no_index",),
        ("ghost_call",),
        ("no_index", "repeats_names"),
    ],
)
async def test_calls_survive_the_habits_of_imitators(quirks: tuple[str, ...]) -> None:
    wanted = (Call("read", {"path": "a" * 30}), Call("read", {"path": "b" * 30}), Call("grep", {"p": "x"}))
    message = await answer(Reply(calls=wanted, quirks=quirks))
    assert [(c.name, c.arguments) for c in message.tool_calls] == [
        (c.name, dict(c.arguments)) for c in wanted
    ]
    assert len({call.id for call in message.tool_calls}) == 3
    assert all(call.id for call in message.tool_calls)


async def test_stop_beside_calls_is_tool_use() -> None:
    message = await answer(Reply(calls=(Call("ls"),), stop="stop"))
    assert (message.stop_reason, message.raw_stop_reason) == ("tool_use", "stop")


async def test_tool_calls_without_any_call_is_a_plain_stop() -> None:
    assert (await answer(Reply("hm", stop="tool_calls"))).stop_reason == "stop"


@pytest.mark.parametrize(
    ("word", "stop_reason"),
    [
        ("length", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
        ("end_turn", "stop"),
        ("eos", "stop"),
        ("function_call", "stop"),
    ],
)
async def test_finish_reasons_become_one_set(word: str, stop_reason: str) -> None:
    message = await answer(Reply("text", stop=word))
    assert (message.stop_reason, message.raw_stop_reason) == (stop_reason, word)


async def test_a_cut_reply_keeps_its_broken_call_as_text() -> None:
    message = await answer(
        Reply(calls=(Call("write", raw='{"path": "doc.md", "content": "# Ti'),), stop="length")
    )
    assert message.stop_reason == "length"
    assert message.tool_calls[0].arguments is None
    assert message.tool_calls[0].raw_arguments == '{"path": "doc.md", "content": "# Ti'


async def test_one_broken_call_leaves_its_neighbours_whole() -> None:
    message = await answer(Reply(calls=(Call("write", raw='{"path": "a'), Call("bash", {"command": "x"}))))
    assert [call.arguments for call in message.tool_calls] == [None, {"command": "x"}]


async def test_a_refusal_is_content_filter_with_its_words() -> None:
    message = await answer(Reply("I cannot do that.", quirks=("refusal",)))
    assert (message.stop_reason, message.raw_stop_reason) == ("content_filter", "refusal")
    assert message.error_message == "I cannot do that."
    assert message.text == "I cannot do that."


@pytest.mark.parametrize(
    ("word", "kind", "is_retryable"),
    [
        ("error", "server_error", True),
        ("network_error", "server_error", True),
        ("insufficient_system_resource", "overloaded", True),
        ("telepathy", "bad_response", False),
    ],
)
async def test_other_finish_reasons_are_errors_with_their_name(
    word: str, kind: ErrorKind, is_retryable: bool
) -> None:
    error = await refusal(Reply("text", stop=word))
    assert (error.kind, error.is_retryable) == (kind, is_retryable)
    assert repr(word) in str(error)
    assert isinstance(error.spent, Usage)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "reasoning_twice"])
async def test_thinking_is_kept_apart_and_once(field: str) -> None:
    message = await answer(Reply("done", thinking="because " * 5, quirks=(field,)))
    thinking = message.content[0]
    assert isinstance(thinking, ThinkingBlock)
    assert thinking.thinking == "because " * 5
    assert thinking.signature == ("reasoning" if field == "reasoning" else "reasoning_content")
    assert message.text == "done"


async def test_deepseek_gets_its_thinking_back_or_refuses() -> None:
    steps = [Reply(thinking="because", calls=(Call("ls"),)), Reply("done")]
    async with LoopbackServer(steps, profile="deepseek") as server:
        asked = provider(server.url, "deepseek")
        wanted = {"model": "deepseek-v4", "thinking": "high"}
        _, first = await ask(asked, request(**wanted))
        history = (user_text("hi"), first, result(first.tool_calls[0].id, "x"))
        await ask(asked, request(*history, **wanted))
        await asked.close()
        assert server.refused == []
        assert server.requests[1].body["messages"][2]["reasoning_content"] == "because"


async def test_openrouters_details_are_merged_kept_and_sent_back() -> None:
    steps = [
        Reply(thinking="because " * 4, quirks=("reasoning_details",), calls=(Call("ls"),)),
        Reply("done"),
    ]
    async with LoopbackServer(steps, profile="openrouter") as server:
        asked = provider(server.url, "openrouter")
        _, first = await ask(asked, request(model="x/y"))
        history = (user_text("hi"), first, result(first.tool_calls[0].id, "x"))
        await ask(asked, request(*history, model="x/y"))
        await asked.close()
        assert server.refused == []
        details = server.requests[1].body["messages"][2]["reasoning_details"]
    assert details == [
        {"type": "reasoning.text", "text": "because " * 4, "index": 0, "format": "x"},
        {"type": "reasoning.encrypted", "data": "ENC", "index": 1, "id": "rs_1"},
    ]


async def test_openrouters_bill_wins_over_any_price_list() -> None:
    message = await answer(Reply("x", usage={"cost": 0.0123}), "openrouter", model="x/y")
    assert message.cost_usd == 0.0123
    assert (await answer(Reply("x", usage={"cost": 0.0123}))).cost_usd is None


@pytest.mark.parametrize("quirk", ["usage_in_choice", "usage_each_chunk", "usage_x_groq"])
async def test_usage_is_found_wherever_it_stands_and_never_added_up(quirk: str) -> None:
    reported = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}
    message = await answer(Reply("text " * 20, usage=reported, quirks=(quirk,)))
    assert message.usage == Usage(60, 7, 40)


async def test_a_later_report_of_nothing_does_not_undo_an_earlier_one() -> None:
    frames = (
        chunk({"content": "x"}, "stop"),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
        {"choices": [], "usage": {"total_tokens": 11}},
    )
    assert (await answer(Raw(frames=frames))).usage == Usage(9, 2)


async def test_no_usage_is_none() -> None:
    assert (await answer(Reply("x", usage={"none": True}))).usage is None


async def test_a_request_that_fills_the_context_is_an_overflow_and_no_empty_reply() -> None:
    error = await refusal(Reply("", stop="length", usage={"completion_tokens": 0}))
    assert (error.kind, error.is_retryable) == ("context_overflow", False)


async def test_mistrals_parts_are_thinking_and_text() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "because"}]}
    frames = (
        chunk({"content": [thought]}),
        chunk({"content": [{"type": "text", "text": "done"}, 3]}, "stop"),
    )
    message = await answer(Raw(frames=frames), "mistral", model="m")
    assert message.content == (ThinkingBlock("because"), TextBlock("done"))


async def test_the_old_function_call_is_a_call() -> None:
    frames = (
        chunk({"function_call": {"name": "read", "arguments": '{"path"'}}),
        chunk({"function_call": {"arguments": ': "a"}'}}, "function_call"),
    )
    message = await answer(Raw(frames=frames))
    assert message.stop_reason == "tool_use"
    assert message.tool_calls[0].arguments == {"path": "a"}


async def test_a_character_in_two_deltas_is_put_together() -> None:
    frames = (
        'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n',
        'data: {"choices":[{"delta":{"content":"\\ude00!"},"finish_reason":"stop"}]}\n\n',
    )
    async with LoopbackServer([Raw(frames=frames)]) as server:
        asked = provider(server.url)
        deltas, message = await ask(asked, request())
        await asked.close()
    assert message.text == shown(deltas, "text") == "😀!"


@pytest.mark.parametrize(
    "wire",
    [
        Wire(crlf=True),
        Wire(bom=True),
        Wire(split_bytes=1),
        Wire(split_bytes=7, crlf=True),
        Wire(gzip=True),
        Wire(comment_every=1),
        Wire(drops_last_blank=True),
        Wire(content_type="application/octet-stream"),
        Wire(content_type="text/event-stream; charset=utf-8"),
    ],
    ids=["crlf", "bom", "bytes", "sevens", "gzip", "comments", "no blank", "odd type", "charset"],
)
async def test_however_the_bytes_travel_the_reply_is_the_same(wire: Wire) -> None:
    step = Reply(TEXT, thinking="weil ß", calls=(Call("read", {"path": "ü"}),), wire=wire)
    message = await answer(step)
    assert message.text == TEXT
    assert message.tool_calls == (ToolCall("call_0_read", "read", {"path": "ü"}),)
    assert message.usage is not None


async def test_a_reply_in_one_piece_is_taken_though_a_stream_was_asked_for() -> None:
    body = (
        '{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant",'
        '"content":"hi","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},'
        '{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]}}],"usage":{"prompt_tokens":3,'
        '"completion_tokens":2}}'
    )
    message = await answer(Raw(body, wire=Wire(content_type="application/json")))
    assert message.text == "hi"
    assert [call.id for call in message.tool_calls] == ["a", "b"]
    assert message.usage == Usage(3, 2)


async def test_done_is_not_needed_after_a_finish_reason() -> None:
    assert (await answer(Reply("text", quirks=("no_done",)))).text == "text"


@pytest.mark.parametrize("quirks", [("no_finish",), ("no_finish", "no_done")])
async def test_a_stream_without_finish_reason_is_no_reply_even_with_done(quirks: tuple[str, ...]) -> None:
    error = await refusal(Reply("text", calls=(Call("ls"),), quirks=quirks))
    assert (error.kind, error.is_retryable) == ("stream_interrupted", True)


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("is_inside", [False, True])
async def test_a_stream_that_breaks_off_is_no_reply(how: Any, is_inside: bool) -> None:
    wire = Wire(cut_after=3, cut_how=how, cut_inside=is_inside)
    error = await refusal(Reply("text " * 20, wire=wire))
    assert (error.kind, error.is_retryable) == ("stream_interrupted", True)


async def test_a_stream_that_ends_inside_an_event_is_no_reply() -> None:
    error = await refusal(Raw('data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"choices":[{"del'))
    assert (error.kind, error.is_retryable) == ("stream_interrupted", True)


async def test_usage_told_before_a_break_is_spent() -> None:
    step = Reply(
        "text " * 20, usage={"prompt_tokens": 9}, quirks=("usage_each_chunk",), wire=Wire(cut_after=4)
    )
    error = await refusal(step)
    assert isinstance(error.spent, Usage)
    assert error.spent.input_tokens == 9


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_break_after_the_finish_reason_loses_only_the_usage(how: Any) -> None:
    frames = (chunk({"content": "done"}), chunk({}, "stop"), "data: never\n\n")
    message = await answer(Raw(frames=frames, wire=Wire(cut_after=2, cut_how=how)))
    assert (message.text, message.usage) == ("done", None)


async def test_an_error_object_in_the_stream_is_that_error() -> None:
    frames = (
        chunk({"content": "so far"}),
        {"error": {"code": 429, "message": "slow down"}},
        "data: [DONE]\n\n",
    )
    error = await refusal(Raw(frames=frames))
    assert (error.kind, error.is_retryable, error.status) == ("rate_limit", True, 429)


@pytest.mark.parametrize(
    "frames",
    [
        ({"error": {"code": 502, "message": "upstream died"}},),
        ({"choices": [], "x_groq": {"error": "upstream died"}},),
        ({"object": "error", "message": "upstream died", "code": 500},),
        ('event: error\ndata: {"message": "upstream died"}\n\n',),
        ("event: error\ndata: upstream died\n\n",),
        (chunk({"content": ""}, "error") | {"error": {"code": 502, "message": "upstream died"}},),
        ({"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "upstream died"}}]},),
    ],
)
async def test_errors_in_a_stream_are_found_in_every_shape(frames: Any) -> None:
    error = await refusal(Raw(frames=frames))
    assert (error.kind, error.is_retryable) == ("server_error", True)
    assert "upstream died" in str(error)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<!doctype html><title>Sign in</title>", "text/html"),
        ("<!doctype html><title>Sign in</title>", "text/event-stream"),
        ("", "text/event-stream"),
        ("", "application/json"),
        ("hello", "text/plain"),
        ('["a"]', "application/json"),
        ("data: no json at all\n\n", "text/event-stream"),
        (": comment\n\n" * 3, "text/event-stream"),
    ],
)
async def test_a_200_without_sense_is_tried_again(body: str, content_type: str) -> None:
    error = await refusal(Raw(body, wire=Wire(content_type=content_type)))
    assert (error.kind, error.is_retryable) == ("bad_response", True)


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
async def test_an_error_object_as_the_body_of_a_200_is_that_error(content_type: str) -> None:
    error = await refusal(
        Raw(
            '{"error": {"message": "no", "code": "insufficient_quota"}}', wire=Wire(content_type=content_type)
        )
    )
    assert (error.kind, error.is_retryable) == ("quota", False)


async def test_a_json_body_that_is_no_reply_is_no_reply() -> None:
    error = await refusal(Raw('{"hello": 1}', wire=Wire(content_type="application/json")))
    assert error.kind == "bad_response"
    assert '{"hello": 1}' in str(error)


async def test_chunks_of_odd_shapes_do_no_harm() -> None:
    frames = (
        {"choices": None},
        {"choices": "x", "usage": "x"},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": "x", "usage": 3}]},
        {
            "choices": [
                {"delta": {"content": None, "tool_calls": "x", "reasoning": 3, "reasoning_details": "x"}}
            ]
        },
        {"choices": [{"delta": {"tool_calls": [None, 3]}}]},
        {"x_groq": {"id": "1"}},
        chunk({"content": "fine", "role": "assistant"}, "stop"),
    )
    assert (await answer(Raw(frames=frames))).text == "fine"
