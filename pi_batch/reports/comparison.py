"""What `pi-batch compare` found, as text for a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from pi_batch.encoders import plain_line
from pi_batch.reports.benchmark_words import (
    NOT_KNOWN,
    count,
    money,
    name_of,
    of,
    p_value,
    percent,
    points,
    time,
    with_unknown,
)
from pi_batch.reports.json import json_value
from pi_batch.statistics.amounts import Spread
from pi_batch.statistics.comparison import Amounts, Comparison, Comparisons

MAX_LINES = 20
"""Of flipped and of missing tasks, each; JSON and HTML have all."""


def comparison_json(found: Comparisons) -> str:
    """Every number, fields as in `statistics/comparison.py`, two-space indent."""
    return json.dumps(json_value(found), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def comparison_text(found: Comparisons) -> str:
    """The word, and for each comparison what led to it."""
    blocks = ["\n".join(_block(one)) for one in found.comparisons]
    if len(found.comparisons) > 1:
        blocks.append(f"{found.word}: of {len(found.comparisons)} comparisons, p values after Holm")
    return "\n\n".join(blocks) + "\n"


def _block(one: Comparison) -> Iterator[str]:
    yield f"{one.word}: {plain_line(one.reason)}"
    yield f"  A  {name_of(one.baseline)}"
    yield f"  B  {name_of(one.candidate)}"
    yield ""
    for cells in _rows(one):
        yield _aligned(cells)
    yield from _flipped(one)
    yield from _missing(one)


def _rows(one: Comparison) -> Iterator[tuple[str, str, str]]:
    """Name, A, B."""
    yield "", "A", "B"
    yield f"pass rate ({one.tasks} tasks)", percent(one.rate_a), percent(one.rate_b)
    yield "difference, points", "", difference(one)
    yield f"p ({one.test or 'no test'})", "", probability(one)
    yield "visible at 80 % power, points", "", visible(one)
    for name, show, spread_of in AMOUNTS:
        a, b = spread_of(one.amounts_a), spread_of(one.amounts_b)
        yield f"{name}, mean", with_unknown(show(a.mean), a), with_unknown(show(b.mean), b)
        yield f"{name}, per solved", show(a.per_solved), show(b.per_solved)


AMOUNTS: Sequence[tuple[str, Callable[[float | None], str], Callable[[Amounts], Spread]]] = (
    ("cost", money, lambda amounts: amounts.cost_usd),
    ("tokens", count, lambda amounts: amounts.tokens),
    ("turns", count, lambda amounts: amounts.turns),
    ("working time", time, lambda amounts: amounts.working_s),
)
"""What is told of both sides, in order."""


def difference(one: Comparison) -> str:
    """`-33.3 [-50.0, -16.7]`."""
    if one.interval is None:
        return NOT_KNOWN
    return f"{points(one.difference)} [{points(one.interval.low)}, {points(one.interval.high)}]"


def probability(one: Comparison) -> str:
    """The p value, and what it is after all comparisons where that is another."""
    if one.p == one.p_holm:
        return p_value(one.p)
    return f"{p_value(one.p)}, after Holm {p_value(one.p_holm)}"


def visible(one: Comparison) -> str:
    """The smallest difference that so many tasks find, in points."""
    if one.smallest_difference is None:
        return "none: fewer than 6 tasks"
    return f"{100 * one.smallest_difference:.1f}"


def _aligned(cells: tuple[str, str, str]) -> str:
    return f"  {cells[0]:<32}{cells[1]:<26}{cells[2]}".rstrip()


def _flipped(one: Comparison) -> Iterator[str]:
    better = sum(flip.is_better for flip in one.flips)
    yield ""
    yield f"  flipped: {len(one.flips) - better} worse, {better} better"
    for flip in one.flips[:MAX_LINES]:
        word = "better" if flip.is_better else "worse"
        yield f"    {word:<8}{of(flip.a):>6} -> {of(flip.b):<6}{name_of(flip.task)}"
    yield from _more(len(one.flips))


def _missing(one: Comparison) -> Iterator[str]:
    if not one.unpaired:
        return
    yield ""
    yield f"  not compared: {len(one.unpaired)}"
    for task in one.unpaired[:MAX_LINES]:
        yield f"    {name_of(task.task)}: {plain_line(task.reason)}"
    yield from _more(len(one.unpaired))


def _more(total: int) -> Iterator[str]:
    if total > MAX_LINES:
        yield f"    … and {total - MAX_LINES} more: --json and --html list all"
