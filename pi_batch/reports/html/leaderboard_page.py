"""The page of a leaderboard: `pi-batch report --leaderboard board.html`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pi_batch.encoders import plain_line
from pi_batch.reports.benchmark_words import (
    NOT_KNOWN,
    between,
    by_k,
    count,
    money,
    name_of,
    of,
    p_value,
    percent,
    points,
    time,
)
from pi_batch.reports.html.plots import Point, Scatter, Whisker, scatter, whisker
from pi_batch.reports.html.rendering import render
from pi_batch.reports.html.values import Badge, Fact
from pi_batch.statistics.amounts import Spread
from pi_batch.statistics.power import ALPHA
from pi_batch.statistics.rates import Tally
from pi_batch.statistics.standing import Leaderboard, Pair, Standing


class BoardRow(Struct, frozen=True):
    """A model's line."""

    number: int
    name: str
    rate: str
    interval: str
    whisker: Whisker | None
    rate_of_all: str
    trials: str
    cells: tuple[str, ...]
    """In the order of `BoardPage.columns`."""
    badge: Badge | None


class Named(Struct, frozen=True):
    """A line of a table: a name and its cells."""

    name: str
    cells: tuple[str, ...]
    badge: Badge | None = None


class Cells(Struct, frozen=True):
    """A task's line of the grid."""

    task: str
    tags: str
    cells: tuple[Badge, ...]


class BoardPage(Struct, frozen=True):
    """What the template of a leaderboard lays out."""

    title: str
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[BoardRow, ...]
    chart: Scatter | None
    not_drawn: str
    """Models that the chart does not hold; empty: all are there."""
    pairs: tuple[Named, ...]
    amounts: tuple[Named, ...]
    tries: tuple[Named, ...]
    ks: tuple[int, ...]
    grid: tuple[Cells, ...]


def leaderboard_page(board: Leaderboard) -> str:
    """The whole page, ending in one newline."""
    standings = board.standings
    tasks = len(board.grid)
    ks = tuple(dict.fromkeys(each.k for one in standings for each in one.pass_at_k))
    most = max(ks, default=1)
    title = f"{_many(len(standings), 'model')} on {_many(tasks, 'task')}"
    drawn = [point for number, one in enumerate(standings, start=1) if (point := _point(number, one))]
    absent = [name_of(one.name) for one in standings if one.cost_usd.mean is None or one.rate is None]
    page = BoardPage(
        title,
        tuple(_facts(board)),
        tuple(plain_line(warning, 300) for warning in board.warnings),
        (f"pass@{most}", f"pass^{most}", "Cost", "Cost per solved", "Tokens", "Turns", "Time"),
        tuple(_row(number, one, most) for number, one in enumerate(standings, start=1)),
        scatter(drawn),
        ", ".join(absent),
        tuple(_pair(pair) for pair in board.pairs),
        tuple(line for one in standings for line in _amounts(one)),
        tuple(line for one in standings for line in _tries(one, ks)),
        tuple(sorted(ks)),
        tuple(
            Cells(
                name_of(row.task), plain_line(", ".join(row.tags), 60), tuple(_cell(one) for one in row.cells)
            )
            for row in board.grid
        ),
    )
    return render("leaderboard.html.j2", page)


def _facts(board: Leaderboard) -> Iterator[Fact]:
    trials = sum(sum(one.counts.values()) for one in board.standings)
    yield Fact("Trials", f"{trials:,}")
    repeats = sorted({number for one in board.standings for number in one.repeats if one.tasks})
    if repeats:
        fewest, most = repeats[0], repeats[-1]
        yield Fact("Scored trials a task", f"{fewest}" if fewest == most else f"{fewest} to {most}")
    seen = board.smallest_difference
    yield Fact(
        "Differences it can see",
        "none: fewer than 6 tasks" if seen is None else f"from {100 * seen:.1f} points (80 % power)",
    )
    yield Fact("Seed", str(board.seed))


def _row(number: int, one: Standing, most: int) -> BoardRow:
    unscored = one.counts["error"] + one.counts["missing"]
    scored = one.counts["passed"] + one.counts["failed"]
    at = next((percent(each.value) for each in one.pass_at_k if each.k == most), NOT_KNOWN)
    hat = next((percent(each.value) for each in one.pass_hat_k if each.k == most), NOT_KNOWN)
    return BoardRow(
        number,
        name_of(one.name),
        percent(one.rate),
        between(one.interval) if one.rate is not None else "",
        whisker(one.interval.low, one.rate, one.interval.high) if one.rate is not None else None,
        percent(one.rate_of_all),
        f"{scored} scored" + (f", {unscored} not" if unscored else ""),
        (
            at,
            hat,
            money(one.cost_usd.mean),
            money(one.cost_usd.per_solved),
            count(one.tokens.mean),
            count(one.turns.mean),
            time(one.working_s.mean),
        ),
        Badge("frontier", "good") if one.is_on_frontier else None,
    )


def _point(number: int, one: Standing) -> Point | None:
    if one.rate is None or one.cost_usd.mean is None:
        return None
    title = f"{name_of(one.name)}: {percent(one.rate)} ({between(one.interval)}), {money(one.cost_usd.mean)}"
    return Point(str(number), title, one.cost_usd.mean, one.rate, one.interval, one.is_on_frontier)


def _pair(pair: Pair) -> Named:
    differs = pair.p_holm is not None and pair.p_holm <= ALPHA
    word = "differ" if differs else "no task in common" if pair.p is None else "not told apart"
    return Named(
        name_of(pair.first),
        (
            name_of(pair.second),
            f"{pair.tasks:,}",
            points(pair.difference),
            p_value(pair.p),
            p_value(pair.p_holm),
        ),
        Badge(word, "good" if differs else "plain"),
    )


def _amounts(one: Standing) -> Iterator[Named]:
    """Four lines a model."""
    for name, show, spread in (
        ("cost", money, one.cost_usd),
        ("tokens", count, one.tokens),
        ("turns", count, one.turns),
        ("working time", time, one.working_s),
    ):
        values: Sequence[float | None] = (
            spread.mean,
            spread.median,
            spread.p90,
            spread.total,
            spread.per_solved,
        )
        yield Named(name_of(one.name), (name, *(show(value) for value in values), _unknown(spread)))


def _unknown(spread: Spread) -> str:
    return str(spread.unknown) if spread.unknown else ""


def _tries(one: Standing, ks: Sequence[int]) -> Iterator[Named]:
    for name, found in (("pass@k", one.pass_at_k), ("pass^k", one.pass_hat_k)):
        by_number = {each.k: by_k(each, one.tasks) for each in found}
        yield Named(name_of(one.name), (name, *(by_number.get(k, NOT_KNOWN) for k in sorted(ks))))


def _cell(found: Tally | None) -> Badge:
    """Green for all, red for none, yellow between, plain without a scored trial."""
    if found is None or not found.trials:
        return Badge("–" if found is None else "not scored")
    match found.passes:
        case found.trials:
            return Badge(of(found), "good")
        case 0:
            return Badge(of(found), "bad")
        case _:
            return Badge(of(found), "warn")


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
