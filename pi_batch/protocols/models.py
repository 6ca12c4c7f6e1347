"""What a provider is asked, and what it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from pi_batch.messages import AssistantMessage, JsonObject, Message, ToolDeclaration, Usage


class ModelRequest(Struct, frozen=True):
    """One request: the history as it stands, through the history gate."""

    model: str
    """Without the provider: what the wire calls the model."""
    system: str
    messages: tuple[Message, ...]
    """No SystemMessage among them."""
    tools: tuple[ToolDeclaration, ...]
    max_output_tokens: int | None
    thinking: str | None
    """A thinking level or None."""
    timeout_s: float
    """Seconds left for the whole request."""
    session_id: str = ""
    """Stable over a task: cache affinity."""
    output_schema: JsonObject | None = None
    """What the last reply's JSON must fit; services that can are told so."""


class Delta(Struct, frozen=True):
    """A piece of a reply while it streams."""

    kind: Literal["text", "thinking", "tool_call"]
    text: str


class RecordedSummary(Struct, frozen=True):
    """A compaction that a recording holds."""

    text: str
    kept_messages: int
    """How many of the newest messages it left as they were."""
    details: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    cost_usd: float | None = None


class Provider(Protocol):
    """A model service, or a recording of one."""

    name: str

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        """Yield deltas, then exactly one whole AssistantMessage, last.

        Raises: ProviderError; nothing of an incomplete message is ever yielded as a message.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
