"""A session as the sections of a page: the active branch, the others, and what each turn cost."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.encoders import plain_line
from pi_batch.messages import AssistantMessage, Usage
from pi_batch.reports.html.entries import BranchItems, read
from pi_batch.reports.html.values import Section, TurnCost
from pi_batch.result_words import dollars
from pi_batch.session import (
    Entry,
    SessionFile,
    Spent,
    active_branch,
    context_entries,
    labels_of,
    leaves,
    message_from_json,
    spent_on,
)


class Chain(Struct, frozen=True):
    """Entries that hang on one another, from where they leave a chain made before."""

    entries: tuple[Entry, ...]
    from_id: str = ""


def sections(session: SessionFile) -> tuple[Section, ...]:
    """The active branch, then each other one from where it leaves, the latest first."""
    every = chains(session)
    labels = labels_of(session)
    seen = {entry.id for entry in context_entries(every[0].entries)}
    totals: dict[str, Spent] = {}
    shown_by: dict[str, str] = {}
    made = [_section(chain, labels, totals, shown_by) for chain in every]
    forks: dict[str, tuple[str, ...]] = {}
    for section in made[1:]:
        forks[section.from_id] = (*forks.get(section.from_id, ()), section.first_id)
    return tuple(
        replace(
            section,
            items=tuple(
                replace(
                    item,
                    forks=forks.get(item.id, ()),
                    is_unseen=section is made[0] and item.id not in seen and item.style != "system",
                )
                for item in section.items
            ),
        )
        for section in made
    )


def chains(session: SessionFile) -> tuple[Chain, ...]:
    """The tree taken apart: each entry stands in one chain, the active branch first."""
    by_id = {entry.id: entry for entry in session.entries}
    taken: set[str] = set()
    made: list[Chain] = []
    active = active_branch(session)
    made.append(Chain(active))
    taken.update(entry.id for entry in active)
    for leaf in (*reversed(leaves(session)), *reversed(session.entries)):
        walked: list[Entry] = []
        current: Entry | None = leaf
        while current is not None and current.id not in taken:
            taken.add(current.id)
            walked.append(current)
            current = by_id.get(current.parent_id or "")
        if walked:
            made.append(Chain(tuple(reversed(walked)), current.id if current is not None else ""))
    return tuple(made)


def _section(
    chain: Chain, labels: Mapping[str, str], totals: dict[str, Spent], shown_by: dict[str, str]
) -> Section:
    """One chain. `totals` has the sum at each entry of the chains before, `shown_by` its item; both grow."""
    running = totals.get(chain.from_id, Spent())
    costs: list[TurnCost] = []
    lines: dict[str, str] = {}
    for entry in chain.entries:
        spent = spent_on(entry)
        if spent is not None:
            running += spent
            lines[entry.id] = f"{_line(spent)} · sum {dollars(running.cost_usd)}"
            costs.append(_turn_cost(entry, spent, running, len(costs) + 1))
        totals[entry.id] = running
    items = tuple(
        replace(item, cost=lines.get(item.id, ""))
        for item in BranchItems(read(chain.entries), labels).items()
    )
    ids = {item.id for item in items}
    last = items[0].id if items else ""
    for entry in chain.entries:
        last = entry.id if entry.id in ids else last
        shown_by[entry.id] = last
    title = next((item.outline for item in items if item.outline), "")
    return Section(
        items, _with_bars(costs), shown_by.get(chain.from_id, ""), items[0].id if items else "", title
    )


def _line(spent: Spent) -> str:
    usage = spent.usage
    whole_input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    share = f" ({percent(usage)} cached)" if usage.cache_read_tokens else ""
    cost = "cost unknown" if spent.unknown_costs else dollars(spent.cost_usd)
    return f"{whole_input:,} in{share} · {usage.output_tokens:,} out · {cost}"


def percent(usage: Usage) -> str:
    """The share of the input that came from a cache; empty where there was no input."""
    share = usage.cache_read_share
    return "" if share is None else f"{share:.0%}"


def _turn_cost(entry: Entry, spent: Spent, running: Spent, number: int) -> TurnCost:
    usage = spent.usage
    message = message_from_json(entry.fields.get("message")) if entry.type == "message" else None
    model = message.model if isinstance(message, AssistantMessage) else entry.type
    return TurnCost(
        entry.id,
        str(number),
        plain_line(model, 60),
        f"{usage.input_tokens:,}",
        f"{usage.cache_read_tokens:,}",
        f"{usage.cache_write_tokens:,}",
        f"{usage.output_tokens:,}",
        percent(usage),
        "unknown" if spent.unknown_costs else dollars(spent.cost_usd),
        dollars(running.cost_usd),
        usage.total_tokens,
    )


def _with_bars(costs: list[TurnCost]) -> tuple[TurnCost, ...]:
    most = max((one.all_tokens for one in costs), default=0) or 1
    return tuple(replace(one, width=round(100 * one.all_tokens / most, 3)) for one in costs)
