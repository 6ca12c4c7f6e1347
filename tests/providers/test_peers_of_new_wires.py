"""The official SDKs of OpenAI (Responses) and Google as a second opinion; see `test_peers`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pi_batch.messages import AssistantMessage, ThinkingBlock, ToolDeclaration, user_text
from pi_batch.providers import apis
from tests.providers.asking import KEY, ask, provider, request
from tests.providers.histories import IMAGE, call, reply, result
from tests.providers.test_peers import CALLS, misfit, sent_by_us
from tests.providers.test_responses_wire import thought
from tests.servers import LoopbackServer, Refuse, Reply
from tests.servers.script import Step

pytestmark = pytest.mark.peer

ODD = ToolDeclaration(
    "odd",
    "d",
    {
        "type": "object",
        "properties": {
            "kind": {"const": "x"},
            "free": {"type": "object"},
            "size": {"type": ["integer", "null"]},
        },
    },
)


def history(own: AssistantMessage) -> list[Any]:
    other = reply(ThinkingBlock("hm", "x"), "Reading.", call("c"), provider="anthropic", model="claude")
    return [
        user_text("hi"), other, result("c", "z"), user_text("go on"), own,
        result("a", "x", IMAGE), result("b", "", is_error=True), user_text("hurry"),
    ]  # fmt: skip


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5.6"])
async def test_what_we_send_is_what_openais_responses_types_take(model: str) -> None:
    params = pytest.importorskip("openai.types.responses.response_create_params")
    own = reply(
        thought(), "Reading.", call("a"), call("b"), provider="openai", model=model, api=apis.RESPONSES
    )
    wanted = request(*history(own), model=model, thinking="low", tools=(ODD,))
    body = await sent_by_us("openai", wanted)
    assert misfit(body, params.ResponseCreateParamsStreaming) is None
    assert misfit(body | {"messages": []}, params.ResponseCreateParamsStreaming) is not None


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-3.1-pro", "gemini-4-neon"])
async def test_what_we_send_is_what_googles_types_take(model: str) -> None:
    types = pytest.importorskip("google.genai.types")
    async with LoopbackServer([Reply("Reading.", thinking="hm", calls=CALLS), Reply("ok")]) as server:
        asked = provider(server.url, "google")
        _, own = await ask(asked, request(model=model, thinking="high"))
        first, second = own.tool_calls
        results = [result(first.id, "x", IMAGE), result(second.id, is_error=True, name=second.name)]
        past = [*history(reply(call("a"), call("b"))), user_text("more"), own, *results]
        await ask(asked, request(*past, model=model, thinking="high", tools=(ODD,)))
        await asked.close()
        assert server.refused == []
        body = server.requests[1].body
    for content in body["contents"]:
        types.Content.model_validate(content)
    for tool in body["tools"]:
        types.Tool.model_validate(tool)
    types.Content.model_validate(body["systemInstruction"])
    types.GenerateContentConfig.model_validate(body["generationConfig"])


async def test_openais_client_reads_our_servers_responses_stream() -> None:
    openai = pytest.importorskip("openai")
    step = Reply("Grüße", thinking="weil", calls=CALLS, quirks=("phases",))
    async with LoopbackServer([step, Reply("done")], key=KEY) as server:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0)
        ask_it: dict[str, Any] = {
            "model": "gpt-5.6",
            "store": False,
            "input": [{"role": "user", "content": "hi"}],
        }
        async with client.responses.stream(**ask_it) as stream:
            kinds = {event.type async for event in stream}
            response = await stream.get_final_response()
        assert "response.function_call_arguments.delta" in kinds
        assert [item.type for item in response.output] == [
            "reasoning",
            "message",
            "function_call",
            "function_call",
        ]
        assert (response.output_text, response.status) == ("Grüße", "completed")
        assert response.output[1].phase == "commentary"
        outputs = [
            {"type": "function_call_output", "call_id": item.call_id, "output": "x"}
            for item in response.output
            if item.type == "function_call"
        ]
        items = [item.model_dump(exclude_none=True) for item in response.output]
        again = {**ask_it, "input": [*ask_it["input"], *(_plain(item) for item in items), *outputs]}
        answer = await client.responses.create(**again)
        await client.close()
        assert server.refused == []
    assert answer.output_text == "done"


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it goes back: without what the SDK adds for its readers."""
    return {key: value for key, value in item.items() if key not in ("parsed_arguments", "parsed")}


async def test_openais_client_reads_our_servers_refusals_of_responses() -> None:
    openai = pytest.importorskip("openai")
    async with LoopbackServer([Reply(stop="failed")]) as server:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0)
        ask_it: dict[str, Any] = {"model": "gpt-5.6", "input": "hi", "store": False}
        with pytest.raises(openai.BadRequestError, match="Unknown parameter"):
            await client.responses.create(**ask_it, extra_body={"messages": []})
        failed = await client.responses.create(**ask_it)
        await client.close()
    assert (failed.status, failed.error.code) == ("failed", "server_error")


def google_client(url: str) -> Any:
    genai = pytest.importorskip("google.genai")
    options = {"base_url": url, "api_version": "v1beta", "retry_options": {"attempts": 1}}
    return genai.Client(api_key=KEY, http_options=options)


async def test_googles_client_reads_our_servers_stream_and_sends_its_signatures_back() -> None:
    types = pytest.importorskip("google.genai.types")
    steps: list[Step] = [
        Reply("Grüße", thinking="weil", calls=CALLS),
        Reply("done", usage={"promptTokenCount": 9}),
    ]
    async with LoopbackServer(steps, key=KEY) as server:
        client = google_client(server.url)
        chat = client.aio.chats.create(model="gemini-3.1-pro")
        parts: list[Any] = []
        finish = None
        async for chunk in await chat.send_message_stream("hi"):
            candidate = chunk.candidates[0]
            parts += candidate.content.parts or []
            finish = candidate.finish_reason or finish
        calls = [part.function_call for part in parts if part.function_call]
        assert [(one.name, one.args) for one in calls] == [("read", {"path": "ü"}), ("ls", {})]
        assert "".join(part.text or "" for part in parts if not part.thought) == "Grüße"
        assert finish == types.FinishReason.STOP
        assert next(part for part in parts if part.function_call).thought_signature
        results = [
            types.Part(
                function_response=types.FunctionResponse(id=one.id, name=one.name, response={"output": "x"})
            )
            for one in calls
        ]
        text = ""
        usage: Any = None
        async for chunk in await chat.send_message_stream(results):
            text += chunk.text or ""
            usage = chunk.usage_metadata
        await client.aio.aclose()
        assert server.refused == []
    assert (text, usage.prompt_token_count) == ("done", 9)


async def test_googles_client_reads_our_servers_refusals() -> None:
    errors = pytest.importorskip("google.genai.errors")
    detail = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"}
    fault = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": [detail]}
    async with LoopbackServer([Refuse(429, {"error": fault}), Reply("whole")], key=KEY) as server:
        client = google_client(server.url)
        ask_it: dict[str, Any] = {"model": "gemini-3.1-pro", "contents": "hi"}
        with pytest.raises(errors.ClientError) as caught:
            await client.aio.models.generate_content(**ask_it)
        assert (caught.value.code, caught.value.status) == (429, "RESOURCE_EXHAUSTED")
        assert (await client.aio.models.generate_content(**ask_it)).text == "whole"
        with pytest.raises(errors.ClientError, match="range"):
            await client.aio.models.generate_content(**ask_it, config={"max_output_tokens": 70_000})
        await client.aio.aclose()


@pytest.mark.parametrize("service", ["openai", "google"])
async def test_both_read_the_same_reply_out_of_the_same_bytes(service: str) -> None:
    """Our message and the SDK's, from one script."""
    step = Reply("Grüße 😀", thinking="weil", calls=CALLS)
    async with LoopbackServer([step, step]) as server:
        asked = provider(server.url, service)
        model = "gpt-5.6" if service == "openai" else "gemini-3.1-pro"
        _, ours = await ask(asked, request(model=model))
        await asked.close()
        if service == "openai":
            openai = pytest.importorskip("openai")
            theirs = openai.AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0)
            response = await theirs.responses.create(model=model, input="hi", store=False)
            await theirs.close()
            made = [item for item in response.output if item.type == "function_call"]
            seen = [(one.call_id, one.name, json.loads(one.arguments)) for one in made]
            text = response.output_text
        else:
            client = google_client(server.url)
            answer = await client.aio.models.generate_content(model=model, contents="hi")
            await client.aio.aclose()
            seen = [(one.id, one.name, one.args) for one in answer.function_calls]
            text = "".join(p.text for p in answer.candidates[0].content.parts if p.text and not p.thought)
    assert [(c.id, c.name, c.arguments) for c in ours.tool_calls] == seen
    assert ours.text == text
