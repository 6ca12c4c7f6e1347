"""A provider whose replies were made beforehand; which one comes next is read off the history.

So a resumed task goes on where it was, and nothing is remembered between requests.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage, TextBlock, ToolCall, Usage
from pi_batch.protocols import Delta, ModelRequest


class Steps:
    """Answers in order, for nothing, without a network; implements `protocols.Provider`."""

    def __init__(self, name: str, replies: Sequence[AssistantMessage]) -> None:
        self.name = name
        self._replies = replies

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        """Yield the reply that comes after those in the history. Raises: ProviderError beyond the last."""
        number = sum(isinstance(message, AssistantMessage) for message in request.messages)
        if number >= len(self._replies):
            raise ProviderError(
                f"{self.name}: has {len(self._replies)} replies, number {number + 1} was asked for",
                kind="invalid_request",
            )
        reply = self._replies[number]
        if reply.text:
            yield Delta("text", reply.text)
        yield reply

    async def close(self) -> None:
        """Nothing is held open."""


def says(name: str, text: str) -> AssistantMessage:
    """The reply that ends the work."""
    return _reply(name, (TextBlock(text),), "stop")


def calls(name: str, wanted: Sequence[tuple[str, Mapping[str, Any]]], text: str = "") -> AssistantMessage:
    """A reply that asks for tools: (tool, arguments) each."""
    blocks = [
        ToolCall(f"call_{number}_{hashlib.sha256(repr(one).encode()).hexdigest()[:8]}", *one)
        for number, one in enumerate(wanted, start=1)
    ]
    return _reply(name, (*((TextBlock(text),) if text else ()), *blocks), "tool_use")


def _reply(name: str, content: Any, stop_reason: Any) -> AssistantMessage:
    return AssistantMessage(
        tuple(content), stop_reason, provider=name, model=name, api="built-in", usage=Usage(), cost_usd=0.0
    )
