"""What is known of models by family: the most output, and how they are told to think.

Data, matched by the longest prefix of the model's own name (vendor prefixes of routers and dates taken
off); whatever is not here is taken as a plain chat model of its service.

Sources: the SDKs' types, https://platform.claude.com/docs/en/about-claude/models/overview,
https://developers.openai.com/api/docs/models, https://ai.google.dev/gemini-api/docs/thinking, https://models.dev.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

Level = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
LEVELS: tuple[Level, ...] = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
"""Thinking levels, as the suffix of a model; `none` is another word for off."""

ThinkingStyle = Literal["none", "effort", "adaptive", "budget", "level", "tokens"]
"""none: does not think, or cannot be told; effort: reasoning_effort; adaptive: output_config.effort;
budget: budget_tokens; level, tokens: Gemini's thinkingLevel and thinkingBudget."""

DEFAULT_OUTPUT_TOKENS = 32_000
"""Asked for where nobody says more or less, within what the model gives."""

BUDGET_TOKENS: dict[Level, int] = {
    "minimal": 1_024,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 32_768,
}
"""`budget_tokens` by level, for models that think by budget."""


class ModelFacts(Struct, frozen=True):
    """One family."""

    max_output_tokens: int
    thinking: ThinkingStyle = "none"
    efforts: tuple[str, ...] = ()
    """What the service calls the levels that this family takes, weakest first."""
    can_stop_thinking: bool = True
    budget_tokens: tuple[int, int] = (0, 0)
    """Least and most of a Gemini model's budget."""
    context_window: int | None = None
    """Input and output together, where the price tables do not say it."""
    plain_calls: bool = False
    """Gemini before 3: calls have no ids and need no signature, and their results hold no images."""


_CLAUDE = ("low", "medium", "high", "max")
_CLAUDE_X = ("low", "medium", "high", "xhigh", "max")
_GPT_5 = ("minimal", "low", "medium", "high")
_GPT_51 = ("none", "low", "medium", "high")
_GPT_52 = ("none", "low", "medium", "high", "xhigh")
_GPT_56 = ("none", "low", "medium", "high", "xhigh", "max")
_GEMINI = ("low", "medium", "high")
_GEMINI_FLASH = ("minimal", "low", "medium", "high")
_GEMINI_X = ("low", "medium", "high", "xhigh")
_GEMINI_WINDOW = 1_048_576
_O = ("low", "medium", "high")

FAMILIES: dict[str, ModelFacts] = {
    "claude": ModelFacts(64_000, "adaptive", _CLAUDE, can_stop_thinking=False),
    "claude-2": ModelFacts(4_096),
    "claude-3-haiku": ModelFacts(4_096),
    "claude-3-opus": ModelFacts(4_096),
    "claude-3-sonnet": ModelFacts(4_096),
    "claude-3-5": ModelFacts(8_192),
    "claude-3-7": ModelFacts(64_000, "budget"),
    "claude-opus-4": ModelFacts(32_000, "budget"),
    "claude-sonnet-4": ModelFacts(64_000, "budget"),
    "claude-opus-4-5": ModelFacts(64_000, "budget"),
    "claude-sonnet-4-5": ModelFacts(64_000, "budget"),
    "claude-haiku-4-5": ModelFacts(64_000, "budget"),
    "claude-opus-4-6": ModelFacts(128_000, "adaptive", _CLAUDE),
    "claude-sonnet-4-6": ModelFacts(64_000, "adaptive", _CLAUDE),
    "claude-opus-4-7": ModelFacts(128_000, "adaptive", _CLAUDE_X),
    "claude-opus-4-8": ModelFacts(128_000, "adaptive", _CLAUDE_X),
    "claude-opus-5": ModelFacts(128_000, "adaptive", _CLAUDE_X),
    "claude-sonnet-5": ModelFacts(64_000, "adaptive", _CLAUDE_X),
    "claude-haiku-5": ModelFacts(64_000, "adaptive", _CLAUDE),
    "claude-opus-5-5": ModelFacts(128_000, "adaptive", _CLAUDE_X, can_stop_thinking=False),
    "claude-sonnet-5-5": ModelFacts(64_000, "adaptive", _CLAUDE_X, can_stop_thinking=False),
    "claude-fable": ModelFacts(128_000, "adaptive", _CLAUDE_X, can_stop_thinking=False),
    "claude-mythos": ModelFacts(128_000, "adaptive", _CLAUDE_X, can_stop_thinking=False),
    "chatgpt-4o": ModelFacts(16_384),
    "gpt-3.5": ModelFacts(4_096),
    "gpt-4": ModelFacts(8_192),
    "gpt-4-turbo": ModelFacts(4_096),
    "gpt-4.1": ModelFacts(32_768),
    "gpt-4o": ModelFacts(16_384),
    "gpt-4o-2024-05-13": ModelFacts(4_096),
    "gpt-5": ModelFacts(128_000, "effort", _GPT_5),
    "gpt-5-chat": ModelFacts(16_384),
    "gpt-5-pro": ModelFacts(128_000, "effort", ("high",)),
    "gpt-5-codex": ModelFacts(128_000, "effort", _O),
    "gpt-5.1": ModelFacts(128_000, "effort", _GPT_51),
    "gpt-5.1-chat": ModelFacts(16_384),
    "gpt-5.1-codex": ModelFacts(128_000, "effort", _O),
    "gpt-5.1-codex-max": ModelFacts(128_000, "effort", ("low", "medium", "high", "xhigh")),
    "gpt-5.2": ModelFacts(128_000, "effort", _GPT_52),
    "gpt-5.2-chat": ModelFacts(16_384),
    "gpt-5.2-pro": ModelFacts(128_000, "effort", ("medium", "high", "xhigh")),
    "gpt-5.2-codex": ModelFacts(128_000, "effort", ("low", "medium", "high", "xhigh")),
    "gpt-5.3": ModelFacts(128_000, "effort", _GPT_52),
    "gpt-5.3-chat": ModelFacts(16_384),
    "gpt-5.3-codex": ModelFacts(128_000, "effort", ("low", "medium", "high", "xhigh")),
    "gpt-5.4": ModelFacts(128_000, "effort", _GPT_52),
    "gpt-5.5": ModelFacts(128_000, "effort", _GPT_52),
    "gpt-5.6": ModelFacts(128_000, "effort", _GPT_56),
    "gpt-6": ModelFacts(128_000, "effort", _GPT_56),
    "gemini": ModelFacts(65_536, "level", _GEMINI, context_window=_GEMINI_WINDOW),
    "gemini-1.5": ModelFacts(8_192, plain_calls=True),
    "gemini-2.0": ModelFacts(8_192, plain_calls=True),
    "gemini-2.5-flash": ModelFacts(
        65_536, "tokens", budget_tokens=(0, 24_576), plain_calls=True, context_window=_GEMINI_WINDOW
    ),
    "gemini-2.5-flash-lite": ModelFacts(
        65_536, "tokens", budget_tokens=(512, 24_576), plain_calls=True, context_window=_GEMINI_WINDOW
    ),
    "gemini-2.5-pro": ModelFacts(
        65_536,
        "tokens",
        can_stop_thinking=False,
        budget_tokens=(128, 32_768),
        context_window=_GEMINI_WINDOW,
        plain_calls=True,
    ),
    "gemini-3-pro": ModelFacts(65_536, "level", ("low", "high"), context_window=_GEMINI_WINDOW),
    "gemini-3-flash": ModelFacts(65_536, "level", _GEMINI_FLASH, context_window=_GEMINI_WINDOW),
    "gemini-3.1-flash": ModelFacts(65_536, "level", _GEMINI_FLASH, context_window=_GEMINI_WINDOW),
    "gemini-3.1-flash-lite": ModelFacts(65_536, "level", _GEMINI_FLASH, context_window=_GEMINI_WINDOW),
    "gemini-3.1-pro": ModelFacts(65_536, "level", _GEMINI, context_window=_GEMINI_WINDOW),
    "gemini-3.5-flash": ModelFacts(65_536, "level", _GEMINI_FLASH, context_window=_GEMINI_WINDOW),
    "gemini-3.5-flash-lite": ModelFacts(65_536, "level", _GEMINI_FLASH, context_window=_GEMINI_WINDOW),
    "gemini-3.6-flash": ModelFacts(65_536, "level", _GEMINI_FLASH, context_window=_GEMINI_WINDOW),
    "gemini-4": ModelFacts(32_768, "level", _GEMINI, context_window=_GEMINI_WINDOW),
    "gemini-4-hydrogen": ModelFacts(65_536, "level", _GEMINI_X, context_window=_GEMINI_WINDOW),
    "gemini-4-neon": ModelFacts(65_536, "level", _GEMINI_X, context_window=_GEMINI_WINDOW),
    "gemini-flash-latest": ModelFacts(65_536, "level", _GEMINI_FLASH, context_window=_GEMINI_WINDOW),
    "gemini-flash-lite-latest": ModelFacts(65_536, "level", _GEMINI_FLASH, context_window=_GEMINI_WINDOW),
    "gemma-3": ModelFacts(8_192, plain_calls=True),
    "gemma-4": ModelFacts(32_768, "level", ("minimal", "high"), plain_calls=True),
    "o1": ModelFacts(100_000, "effort", _O),
    "o3": ModelFacts(100_000, "effort", _O),
    "o4": ModelFacts(100_000, "effort", _O),
}

_NEW_OPENAI = re.compile(r"(?:o\d|gpt-(?:[5-9]|\d\d))")
_HOLDS_TO_SCHEMAS = re.compile(r"(?:o\d|gpt-(?:[5-9]|\d\d|4\.1|4o))(?!.*chat)")
_BEFORE_SCHEMAS = ("o1-mini", "o1-preview", "gpt-4o-2024-05-13")


def model_facts(model: str, default: ModelFacts) -> ModelFacts:
    """The facts of a model's family; `default` for one that is not known."""
    return _family(model) or default


def is_known_family(model: str) -> bool:
    """True when `model_facts` needs no default: then its caps are facts, not guesses."""
    return _family(model) is not None


@lru_cache(maxsize=256)
def _family(model: str) -> ModelFacts | None:
    name = model.rpartition("/")[2].lower()
    for end in range(len(name), 1, -1):
        if name[:end] in FAMILIES and _is_boundary(name[end : end + 1]):
            return FAMILIES[name[:end]]
    return None


def takes_completion_tokens(model: str) -> bool:
    """True for OpenAI's o-series and gpt-5 and later: there `max_tokens` is refused."""
    return _NEW_OPENAI.match(model.rpartition("/")[2].lower()) is not None


def holds_to_schemas(model: str) -> bool:
    """True for OpenAI's models that can be held to a JSON Schema."""
    name = model.rpartition("/")[2].lower()
    return _HOLDS_TO_SCHEMAS.match(name) is not None and not name.startswith(_BEFORE_SCHEMAS)


def effort(level: str, efforts: tuple[str, ...]) -> str | None:
    """The service's word for a level: itself, else the next weaker one there is, else the weakest.

    Only `off` turns thinking off. None for a family that takes no level.
    """
    order = [*LEVELS]
    wanted = 0 if level == "none" else order.index(_level(level))
    words = [word for word in efforts if wanted == 0 or word != "none"]
    fitting = [word for word in words if word == "none" or order.index(_level(word)) <= wanted]
    if fitting:
        return fitting[-1]
    return words[0] if words else None


def _level(word: str) -> Level:
    for level in LEVELS:
        if level == word:
            return level
    raise ValueError(f"thinking level {word!r}: unknown; known are {', '.join(LEVELS)}")


def _is_boundary(following: str) -> bool:
    """gpt-4 is no prefix of gpt-4o or gpt-4.1, nor claude-opus-4 of claude-opus-45."""
    return not following.isalnum() and following != "."
