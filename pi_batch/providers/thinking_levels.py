"""Which thinking levels a model takes, and what becomes of one that it does not take."""

from __future__ import annotations

from collections.abc import Iterable

from pi_batch.providers.catalog import Service
from pi_batch.providers.models import BUDGET_TOKENS, LEVELS, Level, ModelFacts, is_known_family, model_facts

_UNKNOWN = ModelFacts(1)


def levels_of(service: Service, model: str) -> tuple[Level, ...] | None:
    """The levels that a model tells apart, weakest first; empty where it cannot be told how much to think.

    None where nothing is known: then every level is sent as it is.
    """
    match service.api, service.compat.thinking_format:
        case "openai-chat", "none":
            return ()
        case "openai-chat", "effort" | "openrouter":
            return _levels(service.compat.efforts)
        case "openai-chat", "together" | "deepseek":
            return ("off", "high")
        case "openai-chat", _:
            return _of_family(model_facts(model, _UNKNOWN))
        case _:
            return _of_family(model_facts(model, _UNKNOWN)) if is_known_family(model) else None


def clamped(level: Level, levels: tuple[Level, ...] | None) -> Level | None:
    """The level that comes of one: itself, else the next weaker one there is, else the weakest.

    Only `off` turns thinking off where anything else is left. None: nothing is said to the model.
    """
    if levels is None or level in levels:
        return level
    thinking = [one for one in levels if one != "off"]
    weaker = [one for one in thinking if LEVELS.index(one) <= LEVELS.index(level)]
    return (weaker[-1] if weaker else thinking[0]) if thinking else None


def _of_family(facts: ModelFacts) -> tuple[Level, ...]:
    has_off = facts.can_stop_thinking and facts.thinking in ("adaptive", "budget", "tokens")
    off: tuple[Level, ...] = ("off",) if has_off else ()
    match facts.thinking:
        case "none":
            return ()
        case "budget" | "tokens":
            return (*off, *BUDGET_TOKENS)
        case _:
            return (*off, *_levels(facts.efforts))


def _levels(words: Iterable[str]) -> tuple[Level, ...]:
    """A service's words as levels, weakest first."""
    named = {"off" if word == "none" else word for word in words}
    return tuple(level for level in LEVELS if level in named)
