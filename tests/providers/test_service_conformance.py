"""What every service of the table does, against a loopback service with its habits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pi_batch import providers
from pi_batch.errors import ErrorKind
from pi_batch.messages import user_text
from pi_batch.model_names import BUILTIN_MODELS
from pi_batch.providers.catalog import SERVICES
from tests.providers.asking import KEY, ask, endpoint, failure, patience, request, shown
from tests.providers.histories import IMAGE, result
from tests.servers import Call, Drop, LoopbackServer, Refuse, Reply, Wire
from tests.servers.chat_rules import PROFILES
from tests.servers.script import Step

NAMES = sorted(set(providers.TABLE) - {"replay", "fake", *BUILTIN_MODELS})
WIRES = ["openai-chat", "openai", "anthropic", "google"]
"""One service for each wire."""
MODELS = {"anthropic": "claude-sonnet-5", "openai": "gpt-5.2", "google": "gemini-3.1-pro"}
PROFILE_OF = {
    "openai-chat": "openai",
    "moonshot": "deepseek",
    "zai": "zai",
    "lmstudio": "groq",
    "xai": "groq",
}


def profile(name: str) -> str:
    known = PROFILE_OF.get(name, name)
    return known if known in PROFILES else "openai"


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def made(name: str, url: str, step: Any = None) -> Any:
    service = SERVICES[name]
    where = endpoint(url, name, timeouts=patience(step))
    return providers.load(name)(service, where)


def wanted(name: str, *messages: Any, **changes: Any) -> Any:
    return request(*messages, **{"model": MODELS.get(name, "m"), **changes})


def test_every_service_of_the_table_is_in_the_catalog_and_the_other_way_round() -> None:
    assert set(NAMES) == set(SERVICES)
    for name in NAMES:
        assert providers.load(name) is providers.load(SERVICES[name].api)


async def test_a_turn_with_tools_and_thinking_is_taken_and_answered(name: str) -> None:
    calls = (Call("read", {"path": "ü"}), Call("ls"))
    usage = {"prompt_tokens": 9, "input_tokens": 9}
    steps = [Reply("Reading.", thinking="because", calls=calls, usage=usage), Reply("done")]
    async with LoopbackServer(steps, profile=profile(name), key=KEY) as server:
        asked = made(name, server.url)
        assert asked.name == name
        deltas, first = await ask(asked, wanted(name, thinking="low"))
        assert shown(deltas, "text") == first.text == "Reading."
        assert (first.stop_reason, first.provider) == ("tool_use", name)
        assert first.tool_calls[0].arguments == {"path": "ü"}
        assert first.usage is not None
        assert first.usage.input_tokens == 9
        results = [result(call.id, "text", IMAGE, name=call.name) for call in first.tool_calls]
        history = (user_text("hi"), first, *results, user_text("hurry"))
        _, second = await ask(asked, wanted(name, *history, thinking="low"))
        assert (second.text, second.stop_reason) == ("done", "stop")
        assert server.refused == []
        await asked.close()
        await asked.close()


FAULTS: list[tuple[Any, ErrorKind, bool]] = [
    (Refuse(401, {"error": {"message": "no"}}), "auth", False),
    (Refuse(429, {"error": {"message": "slow"}}, {"retry-after": "1"}), "rate_limit", True),
    (Refuse(429, {"error": {"message": "spent", "code": "insufficient_quota"}}), "quota", False),
    (Refuse(503, "<html>down</html>"), "overloaded", True),
    (Refuse(400, {"error": {"message": "maximum context length is 5 tokens"}}), "context_overflow", False),
    (Drop(), "network", True),
    (Reply("text " * 20, wire=Wire(cut_after=4)), "stream_interrupted", True),
    (Reply("text " * 20, wire=Wire(stall_after=4, stall_s=3, keepalive=": on it\n\n")), "timeout", True),
    (Reply("text", quirks=("no_finish", "no_stop")), "stream_interrupted", True),
]


@pytest.mark.parametrize("service", WIRES)
@pytest.mark.parametrize(("step", "kind", "is_retryable"), FAULTS)
async def test_a_fault_has_the_same_kind_on_every_wire(
    service: str, step: Any, kind: ErrorKind, is_retryable: bool
) -> None:
    async with LoopbackServer([step]) as server:
        asked = made(service, server.url, step)
        error = await failure(asked, wanted(service))
        await asked.close()
    assert (error.kind, error.is_retryable) == (kind, is_retryable)


async def test_a_failed_request_leaves_the_provider_as_it_was(name: str) -> None:
    steps: list[Step] = [Refuse(500, "x"), Reply("fine")]
    async with LoopbackServer(steps, profile=profile(name)) as server:
        asked = made(name, server.url)
        await failure(asked, wanted(name))
        _, message = await ask(asked, wanted(name))
        await asked.close()
        assert server.requests[0].raw == server.requests[1].raw
    assert message.text == "fine"


@pytest.mark.parametrize("keepalive", ["event: ping\ndata: pong\n\n", "data:\n\n", "data: \n\n", ":\n\n"])
@pytest.mark.parametrize("service", WIRES)
async def test_whatever_keeps_a_stream_alive_is_no_event(service: str, keepalive: str) -> None:
    wire = Wire(stall_after=4, stall_s=0.04, keepalive=keepalive)
    async with LoopbackServer([Reply("text " * 20, wire=wire)]) as server:
        asked = made(service, server.url)
        _, message = await ask(asked, wanted(service))
        await asked.close()
    assert message.text == "text " * 20


@pytest.mark.parametrize("service", WIRES)
async def test_two_sessions_at_once_do_not_mix(service: str) -> None:
    async def talk(asked: Any, number: int) -> list[str]:
        history: list[Any] = [user_text(f"task {number}")]
        for _ in range(3):
            _, message = await ask(asked, wanted(service, *history, session_id=f"s{number}"))
            history += [message, user_text(f"more {number}")]
        return [message.text for message in history[1::2]]

    def answer(body: Any) -> Reply:
        said = str(body)
        return Reply(",".join(str(number) for number in range(6) if f"task {number}" in said))

    async with LoopbackServer(answer) as server:
        asked = made(service, server.url)
        answers = await asyncio.gather(*(talk(asked, number) for number in range(6)))
        await asked.close()
        assert server.refused == []
    assert answers == [[str(number)] * 3 for number in range(6)]
