"""What services report as used, as four disjoint numbers and the reasoning within the output.

Cumulative fields replace, they are not added. Nothing reported is None, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_batch.messages import Usage


def chat_usage(reported: Mapping[str, Any], *, reasoning_outside_output: bool = False) -> Usage | None:
    """Usage of a Chat Completions service; None when the object says nothing.

    Cached tokens are inside `prompt_tokens`, in whichever of four places they are named: OpenAI's
    prompt_tokens_details, DeepSeek's prompt_cache_hit_tokens, Kimi's cached_tokens.
    """
    prompt = _count(reported, "prompt_tokens")
    output = _count(reported, "completion_tokens")
    if prompt is None and output is None:
        return None
    details = _part(reported, "prompt_tokens_details")
    cache_read = _first(
        _count(details, "cached_tokens"),
        _count(reported, "prompt_cache_hit_tokens"),
        _count(reported, "cached_tokens"),
    )
    cache_write = _count(details, "cache_write_tokens") or 0
    missed = _count(reported, "prompt_cache_miss_tokens")
    fresh = missed if missed is not None else (prompt or 0) - cache_read - cache_write
    reasoning = _count(_part(reported, "completion_tokens_details"), "reasoning_tokens") or 0
    output = output or 0
    if (
        reasoning_outside_output
        and (_count(reported, "total_tokens") or 0) >= (prompt or 0) + output + reasoning
    ):
        output += reasoning
    return Usage(max(0, fresh), output, cache_read, cache_write, min(reasoning, output))


def reported_cost_usd(reported: Mapping[str, Any]) -> float | None:
    """The service's own bill: OpenRouter's `cost`, in USD."""
    cost = reported.get("cost")
    return float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0 else None


def messages_usage(reported: Mapping[str, Any], before: Usage | None = None) -> Usage | None:
    """Usage of the Messages API: fields that are there replace those of `before`.

    `input_tokens` has no cached tokens in it. message_start and message_delta both report; proxies leave
    any of it out.
    """
    read = {
        "input_tokens": _count(reported, "input_tokens"),
        "output_tokens": _count(reported, "output_tokens"),
        "cache_read_tokens": _count(reported, "cache_read_input_tokens"),
        "cache_write_tokens": _cache_writes(reported),
        "reasoning_tokens": _count(_part(reported, "output_tokens_details"), "thinking_tokens"),
    }
    known = {name: count for name, count in read.items() if count is not None}
    if not known:
        return before
    base = before or Usage()
    return Usage(**{name: known.get(name, getattr(base, name)) for name in read})


def responses_usage(reported: Mapping[str, Any]) -> Usage | None:
    """Usage of the Responses API; None when the object says nothing.

    Cached tokens are inside `input_tokens`, read and written ones.
    """
    given, output = _count(reported, "input_tokens"), _count(reported, "output_tokens")
    if given is None and output is None:
        return None
    details = _part(reported, "input_tokens_details")
    cache_read = _count(details, "cached_tokens") or 0
    cache_write = _count(details, "cache_write_tokens") or 0
    reasoning = _count(_part(reported, "output_tokens_details"), "reasoning_tokens") or 0
    fresh = max(0, (given or 0) - cache_read - cache_write)
    return Usage(fresh, output or 0, cache_read, cache_write, min(reasoning, output or 0))


def gemini_usage(reported: Mapping[str, Any]) -> Usage | None:
    """Usage of Gemini; None when the object says nothing. Cached tokens are inside `promptTokenCount`."""
    prompt, answer = _count(reported, "promptTokenCount"), _count(reported, "candidatesTokenCount")
    thoughts = _count(reported, "thoughtsTokenCount") or 0
    if prompt is None and answer is None and not thoughts:
        return None
    cache_read = _count(reported, "cachedContentTokenCount") or 0
    of_tools = _count(reported, "toolUsePromptTokenCount") or 0
    fresh = max(0, (prompt or 0) - cache_read) + of_tools
    return Usage(fresh, (answer or 0) + thoughts, cache_read, 0, thoughts)


def _cache_writes(reported: Mapping[str, Any]) -> int | None:
    total = _count(reported, "cache_creation_input_tokens")
    if total is not None:
        return total
    parts = _part(reported, "cache_creation")
    counts = [_count(parts, f"ephemeral_{ttl}_input_tokens") for ttl in ("5m", "1h")]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _count(reported: Mapping[str, Any], key: str) -> int | None:
    value = reported.get(key)
    if isinstance(value, float) and value.is_integer():
        return int(value) if value >= 0 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _part(reported: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = reported.get(key)
    return value if isinstance(value, dict) else {}


def _first(*counts: int | None) -> int:
    return next((count for count in counts if count), 0)
