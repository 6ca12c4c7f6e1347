"""Requests for provider tests."""

from __future__ import annotations

from pi_batch.messages import AssistantMessage, Message
from pi_batch.protocols import Delta, ModelRequest, Provider


def request(*messages: Message) -> ModelRequest:
    """A request with this history."""
    return ModelRequest("m", "be good", messages, (), 1000, None, 60.0)


async def ask(provider: Provider, *messages: Message) -> tuple[list[Delta], AssistantMessage]:
    """The deltas and the message that a provider answers with, which must come last and once."""
    deltas: list[Delta] = []
    final: AssistantMessage | None = None
    async for item in provider.stream(request(*messages)):
        assert final is None, "something came after the message"
        if isinstance(item, Delta):
            deltas.append(item)
        else:
            final = item
    assert final is not None, "no message came"
    return deltas, final
