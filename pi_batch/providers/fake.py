"""A provider that says what it was told to, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable

from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage, TextBlock, ToolCall, Usage
from pi_batch.protocols import Delta, ModelRequest

Step = AssistantMessage | ProviderError | Callable[[ModelRequest], AssistantMessage]
"""One request's outcome: a reply, a failure, or what a function makes of the request."""


class Scripted:
    """Answers requests in the order of its script; implements `protocols.Provider`."""

    name = "fake"

    def __init__(self, steps: Iterable[Step], *, is_endless: bool = False) -> None:
        """`is_endless`: the last step answers all further requests, too."""
        self._steps = list(steps)
        self._is_endless = is_endless
        self.requests: list[ModelRequest] = []
        """What was asked, in order."""
        self.is_closed = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        """Yield the text of the next step in two deltas, then the reply. Raises: ProviderError."""
        self.requests.append(request)
        reply = self._reply(request)
        half = len(reply.text) // 2
        for piece in (reply.text[:half], reply.text[half:]):
            if piece:
                yield Delta("text", piece)
        yield reply

    async def close(self) -> None:
        """Note that nothing more will be asked."""
        self.is_closed = True

    def _reply(self, request: ModelRequest) -> AssistantMessage:
        index = len(self.requests) - 1
        if index >= len(self._steps) and not (self._is_endless and self._steps):
            raise ProviderError(
                f"the script has {len(self._steps)} replies, number {index + 1} was asked for",
                kind="invalid_request",
            )
        step = self._steps[min(index, len(self._steps) - 1)]
        if isinstance(step, ProviderError):
            raise step
        return step if isinstance(step, AssistantMessage) else step(request)


def says(text: str, *, output_tokens: int = 10, cost_usd: float | None = 0.0) -> AssistantMessage:
    """A finished reply of text alone."""
    return AssistantMessage(
        (TextBlock(text),) if text else (),
        "stop",
        provider="fake",
        model="scripted",
        api="fake",
        usage=Usage(10, output_tokens),
        cost_usd=cost_usd,
    )


def calls(*wanted: ToolCall, text: str = "", cost_usd: float | None = 0.0) -> AssistantMessage:
    """A reply that asks for tools."""
    spoken = (TextBlock(text),) if text else ()
    return AssistantMessage(
        (*spoken, *wanted),
        "tool_use",
        provider="fake",
        model="scripted",
        api="fake",
        usage=Usage(10, 10),
        cost_usd=cost_usd,
    )
