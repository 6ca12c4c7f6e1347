"""The official SDKs as a second opinion: they read what our server says, and their types what we send.

They are test-only: `pip install openai anthropic google-genai` where these are to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import pytest

from pi_batch.messages import ThinkingBlock, user_text
from pi_batch.protocols import ModelRequest
from tests.providers.asking import KEY, ask, provider, request
from tests.providers.histories import IMAGE, call, reply, result
from tests.servers import Call, LoopbackServer, Refuse, Reply
from tests.servers.messages_rules import signature_of

pytestmark = pytest.mark.peer

CALLS = (Call("read", {"path": "ü"}), Call("ls"))


def history(thought: ThinkingBlock, service: str, model: str) -> list[Any]:
    own = reply(thought, "Reading.", call("a"), call("b"), provider=service, model=model)
    return [user_text("hi"), own, result("a", "x", IMAGE), result("b", "", is_error=True), user_text("hurry")]


async def sent_by_us(service: str, wanted: ModelRequest) -> Any:
    async with LoopbackServer([Reply("ok")]) as server:
        asked = provider(server.url, service)
        await ask(asked, wanted)
        await asked.close()
        assert server.refused == []
        return server.requests[0].body


def misfit(value: Any, hint: Any, where: str = "body") -> str | None:
    """Where a JSON value is not what a type says; None when it fits, with no key that the type lacks."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return None
    if origin in (Required, NotRequired, Annotated):
        return misfit(value, arguments[0], where)
    if origin is Literal:
        return None if value in arguments else f"{where}: {value!r}"
    if origin in (Union, UnionType):
        misfits = [misfit(value, option, where) for option in arguments]
        return None if None in misfits else max((m for m in misfits if m), key=len)
    if hasattr(hint, "__required_keys__"):
        return _misfit_of_object(value, hint, where)
    if origin is dict or hint is dict:
        return None if isinstance(value, dict) else f"{where}: no object"
    if "SequenceNotStr" in str(hint) or (origin is not None and issubclass(origin, Iterable)):
        if not isinstance(value, list):
            return f"{where}: no list"
        checked = (misfit(item, arguments[0], f"{where}[{index}]") for index, item in enumerate(value))
        return next((found for found in checked if found), None)
    kinds = (int, float) if hint is float else (hint,)
    return None if type(value) in kinds or (value is None and hint is NoneType) else f"{where}: {value!r}"


def _misfit_of_object(value: Any, hint: Any, where: str) -> str | None:
    if not isinstance(value, dict):
        return f"{where}: no object"
    hints = get_type_hints(hint, include_extras=True)
    required = {key for key, kind in hints.items() if get_origin(kind) is Required}
    for key in (required | hint.__required_keys__) - value.keys():
        return f"{where}.{key}: missing"
    for key in value.keys() - hints.keys():
        return f"{where}.{key}: unknown to the SDK"
    checked = (misfit(item, hints[key], f"{where}.{key}") for key, item in value.items())
    return next((found for found in checked if found), None)


def test_the_checker_of_types_finds_what_does_not_fit() -> None:
    params = pytest.importorskip("openai.types.chat.completion_create_params").CompletionCreateParamsStreaming
    good: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}
    assert misfit(good, params) is None
    assert misfit(good | {"enable_thinking": True}, params) == "body.enable_thinking: unknown to the SDK"
    assert misfit(good | {"max_tokens": "5"}, params) is not None
    assert misfit(good | {"messages": [{"role": "human", "content": "x"}]}, params) is not None
    assert misfit({"model": "m", "stream": True}, params) == "body.messages: missing"


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5.2"])
async def test_what_we_send_is_what_openais_types_take(model: str) -> None:
    params = pytest.importorskip("openai.types.chat.completion_create_params")
    thought = ThinkingBlock("hm", "reasoning_content")
    body = await sent_by_us(
        "openai-chat", request(*history(thought, "openai-chat", model), model=model, thinking="low")
    )
    assert misfit(body, params.CompletionCreateParamsStreaming) is None


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-sonnet-5", "claude-fable-5-2"])
async def test_what_we_send_is_what_anthropics_types_take(model: str) -> None:
    params = pytest.importorskip("anthropic.types.message_create_params")
    thought = ThinkingBlock("hm", signature_of("hm"))
    wanted = request(
        *history(thought, "anthropic", model), model=model, thinking="high", max_output_tokens=20_000
    )
    body = await sent_by_us("anthropic", wanted)
    assert misfit(body, params.MessageCreateParamsStreaming) is None


async def test_openais_client_reads_our_servers_stream() -> None:
    openai = pytest.importorskip("openai")
    async with LoopbackServer([Reply("Grüße", calls=CALLS, usage={"prompt_tokens": 9})], key=KEY) as server:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0)
        usage: Any = None
        text, arguments, finish = "", "", None
        stream = await client.chat.completions.create(
            model="gpt-4.1",
            messages=[{"role": "user", "content": "hi"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        async for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
                for item in choice.delta.tool_calls or ():
                    arguments += item.function.arguments or ""
        await client.close()
        assert server.refused == []
    assert (text, arguments, finish) == ("Grüße", '{"path": "ü"}{}', "tool_calls")
    assert usage.prompt_tokens == 9


async def test_openais_client_reads_our_servers_whole_answers_and_refusals() -> None:
    openai = pytest.importorskip("openai")
    spent = Refuse(
        429, {"error": {"message": "spent", "type": "insufficient_quota", "code": "insufficient_quota"}}
    )
    async with LoopbackServer([Reply("hi", calls=CALLS), spent]) as server:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0)
        ask_it: dict[str, Any] = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}
        answer = await client.chat.completions.create(**ask_it)
        assert answer.choices[0].message.tool_calls[0].function.name == "read"
        with pytest.raises(openai.RateLimitError) as caught:
            await client.chat.completions.create(**ask_it)
        assert caught.value.code == "insufficient_quota"
        with pytest.raises(openai.BadRequestError, match="Unknown parameter"):
            await client.chat.completions.create(**ask_it, extra_body={"enable_thinking": True})
        await client.close()


async def test_anthropics_client_reads_our_servers_stream() -> None:
    anthropic = pytest.importorskip("anthropic")
    step = Reply("Grüße", thinking="weil", redacted="ENC", calls=CALLS, usage={"input_tokens": 9})
    async with LoopbackServer([step], key=KEY) as server:
        client = anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0)
        async with client.messages.stream(
            model="claude-sonnet-5", max_tokens=100, messages=[{"role": "user", "content": "hi"}]
        ) as stream:
            message = await stream.get_final_message()
        await client.close()
        assert server.refused == []
    assert [block.type for block in message.content] == [
        "thinking", "redacted_thinking", "text", "tool_use", "tool_use",
    ]  # fmt: skip
    assert message.content[0].signature == signature_of("weil")
    assert message.content[3].input == {"path": "ü"}
    assert (message.stop_reason, message.usage.input_tokens) == ("tool_use", 9)


async def test_anthropics_client_reads_our_servers_whole_answers_and_refusals() -> None:
    anthropic = pytest.importorskip("anthropic")
    async with LoopbackServer([Reply("hi", calls=CALLS)]) as server:
        client = anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0)
        ask_it: dict[str, Any] = {
            "model": "claude-sonnet-5",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "hi"}],
        }
        answer = await client.messages.create(**ask_it)
        assert answer.content[1].input == {"path": "ü"}
        with pytest.raises(anthropic.BadRequestError, match="non-empty"):
            await client.messages.create(**ask_it | {"messages": [{"role": "user", "content": " "}]})
        await client.close()


@pytest.mark.parametrize("service", ["openai-chat", "anthropic"])
async def test_both_read_the_same_reply_out_of_the_same_bytes(service: str) -> None:
    """Our message and the SDK's, from one script."""
    step = Reply("Grüße 😀", calls=CALLS)
    async with LoopbackServer([step, step]) as server:
        asked = provider(server.url, service)
        model = "claude-sonnet-5" if service == "anthropic" else "gpt-4.1"
        _, ours = await ask(asked, request(model=model))
        await asked.close()
        said: Any = [{"role": "user", "content": "hi"}]
        if service == "anthropic":
            anthropic = pytest.importorskip("anthropic")
            theirs = anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0)
            async with theirs.messages.stream(model=model, max_tokens=9, messages=said) as stream:
                message = await stream.get_final_message()
            seen = [(b.id, b.name, b.input) for b in message.content if b.type == "tool_use"]
        else:
            openai = pytest.importorskip("openai")
            theirs = openai.AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0)
            async with theirs.chat.completions.stream(model=model, messages=said) as stream:
                message = (await stream.get_final_completion()).choices[0].message
            seen = [(c.id, c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls]
        await theirs.close()
    assert [(c.id, c.name, c.arguments) for c in ours.tool_calls] == seen
