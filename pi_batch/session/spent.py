"""What the entries of a session cost.

Source: `usage-totals` of @earendil-works/pi-coding-agent 1.6.0: replies, `usage` entries, compactions, branch
summaries and the model work inside tool results, all counted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from pi_batch.messages import Usage
from pi_batch.session.file import Entry
from pi_batch.session.from_json import cost_from_json, usage_from_json
from pi_batch.session.to_json import OURS

SUMMARIES = frozenset({"compaction", "branch_summary"})


class Spent(Struct, frozen=True):
    """Tokens and money of one entry, or of several."""

    usage: Usage = Usage()
    cost_usd: float = 0.0
    """Of what has a price."""
    unknown_costs: int = 0
    """How many requests have no known price."""
    requests: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.usage + other.usage,
            self.cost_usd + other.cost_usd,
            self.unknown_costs + other.unknown_costs,
            self.requests + other.requests,
        )


def spent_on(entry: Entry) -> Spent | None:
    """What an entry cost; None for one that holds no usage."""
    holder: Mapping[str, object] = entry.fields
    if entry.type == "message":
        message = entry.fields.get("message")
        if not isinstance(message, Mapping) or message.get("role") not in ("assistant", "toolResult"):
            return None
        holder = message
    elif entry.type != "usage" and entry.type not in SUMMARIES:
        return None
    usage = usage_from_json(holder.get("usage"))
    if usage is None:
        return None
    ours = holder.get(OURS)
    is_unknown = isinstance(ours, Mapping) and bool(ours.get("costUnknown"))
    cost = None if is_unknown else cost_from_json(holder.get("usage"))
    return Spent(usage, cost or 0.0, int(cost is None), 1)


def total_spent(entries: Iterable[Entry]) -> Spent:
    """The sum over entries, abandoned branches included where they are among them."""
    return sum((spent for spent in map(spent_on, entries) if spent is not None), Spent())
