"""What is said between the harness and a model: messages, blocks, tool calls, usage.

Frozen values without behaviour. The session file (`session.py`) and each provider turn them into
their own JSON at their own edge; nothing else knows a wire shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from pi_batch.errors import ToolErrorKind

StopReason = Literal["stop", "length", "tool_use", "content_filter", "error", "aborted"]
"""Why a reply ended. pi's files say `toolUse`: mapped at the session's edge only."""

JsonObject = Mapping[str, Any]
"""A decoded JSON object whose shape belongs to somebody else (a model's arguments, a JSON Schema)."""


class TextBlock(Struct, frozen=True):
    """A run of text."""

    text: str
    signature: str | None = None
    """Opaque provider data that has to go back with the block (pi: `textSignature`)."""


class ThinkingBlock(Struct, frozen=True):
    """A model's reasoning, returned to its provider unmodified."""

    thinking: str
    signature: str | None = None
    is_redacted: bool = False


class ImageBlock(Struct, frozen=True):
    """An image by its decoded type."""

    data: str
    """Base64, without a data: prefix."""
    mime_type: str
    """image/png, image/jpeg, image/gif or image/webp, taken from the bytes."""


class ToolCall(Struct, frozen=True):
    """One call that a model asked for."""

    id: str
    name: str
    arguments: JsonObject | None
    """None when `raw_arguments` is not a JSON object."""
    raw_arguments: str = ""
    """The text as it came, kept where it does not parse."""
    signature: str | None = None
    """Opaque provider data on the call (Gemini's thoughtSignature)."""


class Usage(Struct, frozen=True):
    """Tokens of one request, or a sum of several: four disjoint numbers, and reasoning within output."""

    input_tokens: int = 0
    """Without cached tokens."""
    output_tokens: int = 0
    """With reasoning."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    """A part of output_tokens."""

    @property
    def total_tokens(self) -> int:
        """What a token budget counts: input, output, cache reads and cache writes."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def cache_read_share(self) -> float | None:
        """Part of the input that was read from a prompt cache, 0 to 1; None without input."""
        whole = self.input_tokens + self.cache_read_tokens + self.cache_write_tokens
        return round(self.cache_read_tokens / whole, 4) if whole else None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


class ToolDeclaration(Struct, frozen=True):
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: JsonObject
    """JSON Schema with an object at its root."""


class SystemMessage(Struct, frozen=True):
    """The system prompt, or a change of it, and which tools are declared from here on."""

    content: str
    tools_added: tuple[ToolDeclaration, ...] = ()
    sections: JsonObject = field(default_factory=dict)
    """Named parts of the prompt that follow the content; in a later message None takes one away."""
    timestamp_ms: int = 0
    role: Literal["system"] = "system"
    tools_removed: tuple[str, ...] = ()
    """Names of tools that are declared no longer."""


class UserMessage(Struct, frozen=True):
    """What the harness says: the prompt, a failing check's output, a warning."""

    content: tuple[TextBlock | ImageBlock, ...]
    timestamp_ms: int = 0
    role: Literal["user"] = "user"

    @property
    def text(self) -> str:
        """All text blocks joined by newlines."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))


class AssistantMessage(Struct, frozen=True):
    """One whole reply of a model."""

    content: tuple[TextBlock | ThinkingBlock | ToolCall, ...]
    stop_reason: StopReason
    provider: str = ""
    model: str = ""
    """The model that answered; a router's answer may differ from what was asked for."""
    api: str = ""
    """pi's name of the wire: openai-completions, anthropic-messages, …"""
    usage: Usage | None = None
    """None when the service reported none; budgets then count an estimate."""
    cost_usd: float | None = None
    """None when the price is unknown."""
    raw_stop_reason: str = ""
    error_message: str | None = None
    response_id: str | None = None
    timestamp_ms: int = 0
    is_cached: bool = False
    """True when it had been kept from an earlier request: its usage is that one's, and its cost 0."""
    role: Literal["assistant"] = "assistant"
    requested_model: str = ""
    """The model that was asked for, where it answered by another name."""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls asked for, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))

    @property
    def text(self) -> str:
        """All text blocks joined by nothing, thinking left out."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))


class ToolResultMessage(Struct, frozen=True):
    """What came of one call; errors are results too."""

    tool_call_id: str
    tool_name: str
    content: tuple[TextBlock | ImageBlock, ...]
    """What the model sees; never blank."""
    is_error: bool = False
    error_kind: ToolErrorKind | None = None
    details: JsonObject = field(default_factory=dict)
    """What logs and reports see beside the content: exit_code, diff, full_output_path, …"""
    timestamp_ms: int = 0
    role: Literal["tool_result"] = "tool_result"

    @property
    def text(self) -> str:
        """All text blocks joined by newlines."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))


Message = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage


def user_text(text: str, timestamp_ms: int = 0) -> UserMessage:
    """A user message of one text block."""
    return UserMessage((TextBlock(text),), timestamp_ms)
