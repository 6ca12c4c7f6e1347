"""How Claude models are told to think, by family.

Source: https://platform.claude.com/docs/en/build-with-claude/thinking. 4.6 and later think adaptively and
take an effort; older ones take a budget of tokens within `max_tokens`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_batch.messages import AssistantMessage, Message, ThinkingBlock, ToolResultMessage
from pi_batch.protocols import ModelRequest
from pi_batch.providers import apis
from pi_batch.providers.models import BUDGET_TOKENS, ModelFacts, effort
from pi_batch.providers.same_model import is_from

MIN_BUDGET_TOKENS = 1_024
ANSWER_TOKENS = 1_024
"""What a budget leaves of `max_tokens` for the answer."""


def thinking_fields(
    request: ModelRequest, provider: str, facts: ModelFacts, max_tokens: int
) -> dict[str, Any]:
    """The request's `thinking` and `output_config`; nothing where nobody named a level."""
    level = request.thinking
    if level is None or facts.thinking not in ("adaptive", "budget"):
        return {}
    is_off = level in ("off", "none")
    if facts.thinking == "adaptive":
        if is_off and facts.can_stop_thinking:
            return {"thinking": {"type": "disabled"}}
        return {
            "thinking": {"type": "adaptive"},
            "output_config": {"effort": effort(level, facts.efforts)},
        }
    if is_off or not _may_think(request, provider):
        return {}
    wanted = next((tokens for name, tokens in BUDGET_TOKENS.items() if name == level), MIN_BUDGET_TOKENS)
    budget = min(wanted, max_tokens - ANSWER_TOKENS)
    if budget < MIN_BUDGET_TOKENS:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _may_think(request: ModelRequest, provider: str) -> bool:
    """False within a tool turn whose latest reply has no thinking at its head: it would have to be there."""
    reply = _open_reply(request.messages)
    if reply is None:
        return True
    first = reply.content[0] if reply.content else None
    is_thinking = isinstance(first, ThinkingBlock) and bool(first.signature)
    return is_thinking and is_from(reply, apis.MESSAGES, provider, request.model)


def _open_reply(messages: Sequence[Message]) -> AssistantMessage | None:
    """The latest reply, when the history ends with results of its calls."""
    has_result = False
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return message if has_result else None
        has_result = has_result or isinstance(message, ToolResultMessage)
    return None
