"""How Gemini models are told to think, by family.

Source: https://ai.google.dev/gemini-api/docs/thinking. Gemini 2.5 takes a budget of tokens, later ones a
level; never both. Some cannot be told not to think: they get the least there is.
"""

from __future__ import annotations

from typing import Any

from pi_batch.providers.models import BUDGET_TOKENS, ModelFacts, effort

ANSWER_TOKENS = 1_024
"""What a budget leaves of `maxOutputTokens` for the answer."""


def thinking_config(level: str | None, facts: ModelFacts, max_tokens: int | None) -> dict[str, Any]:
    """The request's `thinkingConfig`; nothing where nobody named a level."""
    if level is None or facts.thinking not in ("level", "tokens"):
        return {}
    is_off = level in ("off", "none")
    if facts.thinking == "level":
        word = effort(level, facts.efforts) or facts.efforts[0]
        return {"thinkingLevel": word.upper(), "includeThoughts": not is_off}
    least, most = facts.budget_tokens
    if is_off:
        return {"thinkingBudget": 0 if facts.can_stop_thinking else least}
    wanted = next((tokens for name, tokens in BUDGET_TOKENS.items() if name == level), least)
    if max_tokens is not None:
        most = min(most, max_tokens - ANSWER_TOKENS)
    return {"thinkingBudget": max(least, min(wanted, most)), "includeThoughts": True}
