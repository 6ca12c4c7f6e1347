"""The page of a comparison: `pi-batch compare --html`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pi_batch.encoders import plain_line
from pi_batch.reports.benchmark_words import name_of, of, percent, points, with_unknown
from pi_batch.reports.comparison import AMOUNTS, difference, probability, visible
from pi_batch.reports.html.plots import Whisker, difference_whisker
from pi_batch.reports.html.rendering import render
from pi_batch.reports.html.values import Badge, Fact, Mark
from pi_batch.statistics.comparison import Comparison, Comparisons, Flip, Word

MARKS: dict[Word, Mark] = {"PASS": "good", "REGRESSION": "bad", "INCONCLUSIVE": "warn", "MISSING": "warn"}


class FlipRow(Struct, frozen=True):
    """A task that came out otherwise."""

    badge: Badge
    task: str
    a: str
    b: str


class Side(Struct, frozen=True):
    """An amount on both sides."""

    name: str
    a: str
    b: str


class Block(Struct, frozen=True):
    """One comparison."""

    badge: Badge
    reason: str
    baseline: str
    candidate: str
    difference: str
    whisker: Whisker | None
    facts: tuple[Fact, ...]
    sides: tuple[Side, ...]
    flips: tuple[FlipRow, ...]
    counts: str
    unpaired: tuple[Fact, ...]


class ComparisonPage(Struct, frozen=True):
    """What the template of a comparison lays out."""

    title: str
    badge: Badge
    facts: tuple[Fact, ...]
    blocks: tuple[Block, ...]


def comparison_page(found: Comparisons) -> str:
    """The whole page, ending in one newline."""
    first = found.comparisons[0]
    one = len(found.comparisons) == 1
    title = name_of(first.candidate) if one else f"{len(found.comparisons)} comparisons"
    page = ComparisonPage(
        f"{found.word}: {title}",
        Badge(found.word, MARKS[found.word]),
        (
            Fact("Margin", f"{points(found.margin).removeprefix('+')} points"),
            Fact("Significance", f"{found.alpha:g}"),
            Fact("Seed", str(found.seed)),
        ),
        tuple(_block(each, found.margin) for each in found.comparisons),
    )
    return render("comparison.html.j2", page)


def _block(one: Comparison, margin: float) -> Block:
    better = sum(flip.is_better for flip in one.flips)
    return Block(
        Badge(one.word, MARKS[one.word]),
        plain_line(one.reason, 300),
        name_of(one.baseline),
        name_of(one.candidate),
        difference(one),
        difference_whisker(one.interval, one.difference or 0.0, margin) if one.interval else None,
        (
            Fact("Paired tasks", f"{one.tasks:,}"),
            Fact("p", probability(one)),
            Fact("Test", one.test or "none"),
            Fact("Visible at 80 % power, points", visible(one)),
        ),
        (Side("pass rate", percent(one.rate_a), percent(one.rate_b)), *_sides(one)),
        tuple(_flip(flip) for flip in one.flips),
        f"{len(one.flips) - better} worse, {better} better",
        tuple(Fact(name_of(task.task), plain_line(task.reason, 300)) for task in one.unpaired),
    )


def _sides(one: Comparison) -> Iterator[Side]:
    for name, show, spread_of in AMOUNTS:
        a, b = spread_of(one.amounts_a), spread_of(one.amounts_b)
        yield Side(f"{name}, mean", with_unknown(show(a.mean), a), with_unknown(show(b.mean), b))
        yield Side(f"{name}, median", show(a.median), show(b.median))
        yield Side(f"{name}, p90", show(a.p90), show(b.p90))
        yield Side(f"{name}, per solved", show(a.per_solved), show(b.per_solved))


def _flip(flip: Flip) -> FlipRow:
    badge = Badge("better", "good") if flip.is_better else Badge("worse", "bad")
    return FlipRow(badge, name_of(flip.task), of(flip.a), of(flip.b))
