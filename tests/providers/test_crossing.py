"""A conversation that one service began goes on at another, in every direction, without a refusal."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from pi_batch.engine.context import gate
from pi_batch.messages import AssistantMessage, Message, ToolCall, UserMessage, user_text
from pi_batch.providers import apis
from pi_batch.session.from_json import message_from_json
from pi_batch.session.to_json import message_to_json
from tests.providers.asking import ask, provider, request
from tests.providers.histories import IMAGE, result
from tests.servers import Call, LoopbackServer, Reply
from tests.servers.script import Step

MODELS = {
    "openai-chat": "gpt-5.2",
    "openai": "gpt-5.6",
    "anthropic": "claude-sonnet-4-5",
    "google": "gemini-3.1-pro",
}
PAIRS = [
    *permutations(MODELS, 2),
    *((one, "google:gemini-2.5-flash") for one in MODELS),
    *(("google:gemini-2.5-flash", one) for one in MODELS),
    ("anthropic", "anthropic:claude-sonnet-5"),
    ("openai", "openai:gpt-5.2"),
]
READ, LS = Call("read", {"path": "ü"}), Call("ls")


class Talk:
    """One conversation over several services."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._services: dict[str, Any] = {}
        self.history: list[Message] = [UserMessage((*user_text("look").content, IMAGE))]

    async def turn(self, name: str, thinking: str | None = "low") -> AssistantMessage:
        """The next reply, put into the history as a session file gives it back."""
        service, _, model = name.partition(":")
        if service not in self._services:
            self._services[service] = provider(self._url, service)
        messages = gate(self.history)
        wanted = request(
            *messages, model=model or MODELS[service], thinking=thinking, max_output_tokens=8_000
        )
        _, message = await ask(self._services[service], wanted)
        again = message_from_json(json.loads(json.dumps(message_to_json(message))))
        assert isinstance(again, AssistantMessage)
        assert again.content == message.content
        self.history.append(again)
        return again

    def results(self, reply: AssistantMessage) -> None:
        """Answer every call: text and image, an error with an image, nothing at all, in turns."""
        for number, call in enumerate(reply.tool_calls):
            blocks: tuple[Any, ...] = (("text", IMAGE), ("bad", IMAGE), ("",))[number % 3]
            is_error = number % 3 == 1
            self.history.append(result(call.id, *blocks, is_error=is_error, name=call.name))

    async def close(self) -> None:
        for service in self._services.values():
            await service.close()


def steps() -> list[Step]:
    """Both think, call several tools at once, say something beside it, and end."""
    said = ("phases", "signed_thought")
    return [
        Reply("Reading.", thinking="because", redacted="ENC", calls=(READ, LS, READ), quirks=said),
        Reply(thinking="hm", calls=(READ,), quirks=said),
        Reply("On it.", thinking="so", calls=(LS, READ), quirks=said),
        Reply("done", thinking="well", quirks=said),
        Reply("fine", thinking="again", calls=(READ,), quirks=said),
        Reply("the end"),
    ]


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_a_conversation_goes_on_at_another_service_and_comes_back(first: str, second: str) -> None:
    async with LoopbackServer(steps()) as server:
        talk = Talk(server.url)
        talk.results(await talk.turn(first))
        talk.results(await talk.turn(first))
        talk.results(await talk.turn(second))  # in the middle of a tool turn
        assert (await talk.turn(second)).text == "done"
        talk.history.append(user_text("A check failed."))
        talk.results(await talk.turn(first))
        talk.history.append(user_text("Nearly out of turns."))
        assert (await talk.turn(second, None)).text == "the end"
        await talk.close()
        assert server.refused == []
        assert len(server.requests) == 6


@pytest.mark.parametrize("name", MODELS)
async def test_what_no_service_wrote_is_taken_by_each(name: str) -> None:
    """Ids with odd characters, twice the same, none; arguments that are none; signatures of nobody."""
    odd = [
        ToolCall("call_1|fc_+/=", "read", {"path": "x"}, signature="not base64!"),
        ToolCall("", "read", None, '{"path": "x'),
        ToolCall("i" * 450, "a tool that no one has", {}),
    ]
    async with LoopbackServer([Reply("ok")]) as server:
        talk = Talk(server.url)
        for api in (apis.CHAT, apis.RESPONSES, apis.MESSAGES, apis.GEMINI, ""):
            reply = AssistantMessage(tuple(odd), "tool_use", "house", "m", api)
            talk.history.append(reply)
            talk.results(reply)
        assert (await talk.turn(name)).text == "ok"
        await talk.close()
        assert server.refused == []
