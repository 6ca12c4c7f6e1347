"""A model's name taken apart: service, model, thinking level."""

from __future__ import annotations

import re
from typing import Final, Literal

from msgspec import Struct

from pi_batch.errors import UsageError
from pi_batch.wording import quoted

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
THINKING_LEVELS: Final[tuple[ThinkingLevel, ...]] = (
    "off",
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
)
"""Weakest first; as the suffix of a model, `none` is another word for off."""
REPLAY: Final = "replay"
"""Stands before a recording's path."""
ROUTER: Final = "router"
"""Stands before a virtual model's name."""

BUILTIN_MODELS = ("oracle", "nop", "tamper")
"""Models that need no service: they do what the reference solution says, nothing, or what cheats do."""

_MODEL = re.compile(rf"(?:{'|'.join(BUILTIN_MODELS)})|[A-Za-z0-9][A-Za-z0-9_.-]*/\S(.*\S)?")
_SUFFIXES: dict[str, ThinkingLevel] = {"none": "off", **{level: level for level in THINKING_LEVELS}}


def model_name(name: str) -> str | None:
    """What is wrong with a model's name: it is named with its provider, but for those that are built in."""
    if _MODEL.fullmatch(name) and len(name) <= 1000:
        return None
    return f"got {quoted(name)}, need provider/model, e.g. 'openai/gpt-4.1'"


class ModelName(Struct, frozen=True):
    """`provider/model[:level]` taken apart."""

    provider: str
    model: str
    thinking: ThinkingLevel | None = None

    @classmethod
    def parse(cls, name: str) -> ModelName:
        """Split at the first slash; only a known thinking level is taken off the end.

        Raises: UsageError for a name without a provider.
        """
        if name in BUILTIN_MODELS:
            return cls(name, name)
        provider, slash, model = name.partition("/")
        if not slash or not provider or not model:
            raise UsageError(
                f"model {name!r}: need provider/model, for example anthropic/claude-sonnet-5 "
                "or replay/SESSION.jsonl"
            )
        head, _, level = model.rpartition(":")
        is_path = provider in (REPLAY, ROUTER, *BUILTIN_MODELS)
        if not is_path and head and level in _SUFFIXES:
            return cls(provider, head, _SUFFIXES[level])
        return cls(provider, model)

    @property
    def label(self) -> str:
        """provider/model, without a level."""
        return f"{self.provider}/{self.model}"


def is_recording(name: str) -> bool:
    """True for replay/PATH."""
    return name.startswith(f"{REPLAY}/")


def stands_alone(name: str) -> bool:
    """True for a recording and for what is built in: neither is a part of something, or has a stand-in."""
    return is_recording(name) or name.partition("/")[0] in BUILTIN_MODELS


def is_virtual(name: str) -> bool:
    """True for router/NAME."""
    return name.startswith(f"{ROUTER}/")
