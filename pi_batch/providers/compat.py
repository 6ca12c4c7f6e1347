"""How services that speak Chat Completions differ from each other: one record each, data only.

Nothing asks for a service's name or address elsewhere: the encoders and decoders read these fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct, field

OutputCapField = Literal["max_tokens", "max_completion_tokens", "by_model"]
ReasoningBack = Literal["never", "calls", "details"]
ThinkingFormat = Literal["none", "by_model", "effort", "deepseek", "openrouter", "together"]
ToolIds = Literal["any", "alnum9"]


class Compat(Struct, frozen=True):
    """One service's habits; the defaults suit most servers of open models."""

    developer_role: bool = False
    """The system prompt of models that reason goes as `developer`; elsewhere that role is refused."""
    output_cap_field: OutputCapField = "max_tokens"
    """by_model: max_completion_tokens for OpenAI's o-series and gpt-5 and later."""
    usage_in_stream: bool = True
    """`stream_options: {include_usage: true}` is understood."""
    store: bool = False
    """`store` is understood, and must be false to keep nothing; OpenAI keeps nothing unless told to."""
    prompt_cache_key: bool = False
    """`prompt_cache_key` is understood; the session's id is sent."""
    tools_for_history: bool = False
    """`tools: []` is wanted where the history holds calls and no tool is offered (old LiteLLM)."""
    null_content: bool = True
    """A reply that only calls has `content: null`; else the empty string."""
    tool_ids: ToolIds = "any"
    """alnum9: nine letters and digits, no more and no less (Mistral)."""
    reasoning_fields: tuple[str, ...] = ("reasoning_content", "reasoning", "reasoning_text")
    """Where thinking comes in a delta; the first that holds any counts, the others repeat it."""
    reasoning_back: ReasoningBack = "never"
    """calls: under `reasoning_field` with each reply that calls tools; details: as reasoning_details."""
    reasoning_field: str = "reasoning_content"
    """Under which name thinking goes back; empty: the one that it came in."""
    requires_reasoning: bool = False
    """A reply that calls tools must carry `reasoning_field`, if only empty, when thinking is on."""
    thinking_format: ThinkingFormat = "none"
    """How a thinking level is asked for; by_model: reasoning_effort, for families that reason."""
    efforts: tuple[str, ...] = ("low", "medium", "high")
    """Levels of thinking_format effort, openrouter and together."""
    cost_in_usage: bool = False
    """`usage.cost` is the bill in USD."""
    reasoning_outside_output: bool = False
    """`completion_tokens` leaves the reasoning out."""
    output_schema: bool = False
    """Responses API: `text.format` holds the answer to a JSON Schema, for models that can."""
    cache_marks: bool = True
    """Messages API: `cache_control` is understood."""
    extra_body: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Sent in every request, over everything else."""


DEFAULT = Compat()
OPENAI = Compat(
    developer_role=True,
    output_cap_field="by_model",
    prompt_cache_key=True,
    output_schema=True,
    thinking_format="by_model",
)
DEEPSEEK = Compat(reasoning_back="calls", requires_reasoning=True, thinking_format="deepseek")
OPENROUTER = Compat(
    reasoning_fields=("reasoning", "reasoning_content"),
    reasoning_back="details",
    reasoning_field="reasoning",
    thinking_format="openrouter",
    efforts=("none", "minimal", "low", "medium", "high", "xhigh"),
    cost_in_usage=True,
    extra_body=MappingProxyType({"usage": {"include": True}}),
)
GROQ = Compat(output_cap_field="max_completion_tokens", reasoning_fields=("reasoning",))
MISTRAL = Compat(tool_ids="alnum9", usage_in_stream=False, null_content=False)
XAI = Compat(reasoning_outside_output=True)
TOGETHER = Compat(thinking_format="together", reasoning_back="calls", reasoning_field="reasoning")
FIREWORKS = Compat(thinking_format="effort", reasoning_back="calls")
CEREBRAS = Compat(
    output_cap_field="max_completion_tokens", reasoning_fields=("reasoning", "reasoning_content")
)
MOONSHOT = Compat(reasoning_back="calls", requires_reasoning=True)
ZAI = Compat(reasoning_back="calls", thinking_format="deepseek")
OLLAMA = Compat(
    reasoning_fields=("reasoning", "reasoning_content"),
    reasoning_back="calls",
    reasoning_field="reasoning",
    thinking_format="effort",
    efforts=("none", "low", "medium", "high"),
)
LLAMACPP = Compat(reasoning_back="calls")
VLLM = Compat(reasoning_back="calls", reasoning_field="", thinking_format="effort")
LMSTUDIO = Compat(thinking_format="effort")
