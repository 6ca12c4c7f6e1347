"""The fields of entries of each type, beside their id, parent and time.

Source: "Entry Types" in docs/session-format.md of @earendil-works/pi-coding-agent 1.6.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_batch.messages import Message, SystemMessage, Usage
from pi_batch.session.to_json import OURS, message_to_json, pi_provider, usage_to_json


def message_fields(message: Message) -> dict[str, Any]:
    """The fields of a `message` entry."""
    return {"message": message_to_json(message)}


def model_change_fields(provider: str, model: str) -> dict[str, Any]:
    """The fields of a `model_change` entry."""
    return {"provider": pi_provider(provider), "modelId": model}


def custom_fields(custom_type: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `custom` entry: state of ours that no model sees."""
    return {"customType": custom_type, "data": dict(value)}


def thinking_level_fields(level: str) -> dict[str, Any]:
    """The fields of a `thinking_level_change` entry."""
    return {"thinkingLevel": level}


def session_info_fields(name: str) -> dict[str, Any]:
    """The fields of a `session_info` entry: the session's name, on one line; an empty one takes it away."""
    return {"name": " ".join(name.split())}


def label_fields(target_id: str, label: str | None) -> dict[str, Any]:
    """The fields of a `label` entry: a mark on another entry; None takes it away."""
    return {"targetId": target_id} | ({"label": label} if label else {})


def custom_message_fields(
    custom_type: str, text: str, *, is_shown: bool = True, details: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The fields of a `custom_message` entry: something that the model sees and no person said."""
    fields = {"customType": custom_type, "content": text, "display": is_shown}
    return fields | ({"details": dict(details)} if details else {})


def compaction_fields(
    summary: str,
    first_kept_entry_id: str,
    tokens_before: int,
    *,
    system: SystemMessage | None = None,
    usage: Usage | None = None,
    cost_usd: float | None = None,
    details: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The fields of a `compaction` entry; the summary stands for all before the first kept entry.

    `system` is the prompt with the tools in force (`current_system`) and stands for all system messages
    before. `usage` and `cost_usd` are what the summary took: no `usage` entry repeats them.
    """
    fields: dict[str, Any] = {
        "summary": summary,
        "firstKeptEntryId": first_kept_entry_id,
        "tokensBefore": tokens_before,
    }
    if system is not None:
        fields["systemMessage"] = message_to_json(system)
    return fields | _beside_a_summary(usage, cost_usd, details)


def branch_summary_fields(
    summary: str,
    from_id: str,
    *,
    usage: Usage | None = None,
    cost_usd: float | None = None,
    details: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The fields of a `branch_summary` entry: what was done on the branch that ended at `from_id`."""
    return {"fromId": from_id, "summary": summary} | _beside_a_summary(usage, cost_usd, details)


def usage_fields(
    kind: str, provider: str, model: str, usage: Usage, cost_usd: float | None
) -> dict[str, Any]:
    """The fields of a `usage` entry: tokens spent on something that is no message and no summary."""
    named = {"kind": kind, "provider": pi_provider(provider), "model": model}
    return named | _spent(usage, cost_usd)


def _beside_a_summary(
    usage: Usage | None, cost_usd: float | None, details: Mapping[str, Any] | None
) -> dict[str, Any]:
    fields = {} if usage is None else _spent(usage, cost_usd)
    return fields | ({"details": dict(details)} if details else {})


def _spent(usage: Usage, cost_usd: float | None) -> dict[str, Any]:
    """`usage`, and the extra field that tells an unknown price from none."""
    fields: dict[str, Any] = {"usage": usage_to_json(usage, cost_usd)}
    return fields if cost_usd is not None else {**fields, OURS: {"costUnknown": True}}
