"""A run as charts: when each task ran, and which took the most time, tokens and money."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from pi_batch.encoders import plain_line
from pi_batch.reports.html.values import MARKS, Mark
from pi_batch.reports.rows import Row
from pi_batch.result_words import dollars, seconds
from pi_batch.results import RunResult

BARS_MAX = 10
"""Of one chart: its greatest."""
LANES_MAX = 24
LEAST_WIDTH = 0.15
"""Of a bar, in hundredths of its rail: what took no time can be seen too."""

Part = Literal["all", "cached", "input", "written", "output"]


class Piece(Struct, frozen=True):
    """A stretch of a bar, in hundredths of its rail."""

    left: float
    width: float
    part: Part


class Bar(Struct, frozen=True):
    """One task's bar."""

    number: int
    """Of the task on the page."""
    name: str
    value: str
    title: str
    """The same in words, for who does not see it."""
    pieces: tuple[Piece, ...]


class Chart(Struct, frozen=True):
    """The greatest of one measure."""

    title: str
    note: str
    """What it leaves out; empty: nothing."""
    legend: tuple[Part, ...]
    bars: tuple[Bar, ...]


class Stretch(Struct, frozen=True):
    """When a task ran, in hundredths of the run."""

    left: float
    width: float
    lane: int
    mark: Mark
    title: str


class Timeline(Struct, frozen=True):
    """All tasks by when they ran; those at one time lie below each other."""

    title: str
    lanes: int
    stretches: tuple[Stretch, ...]
    length: str


Numbered = Sequence[tuple[int, Row, RunResult]]
"""Number on the page, row, result."""


def charts(rows: Sequence[Row]) -> tuple[Chart, ...]:
    """Time, tokens, cost; a measure that is 0 or unknown everywhere has none."""
    numbered = [(number, row, row.result) for number, row in enumerate(rows, 1) if row.result is not None]
    made = (
        _chart("Time", numbered, lambda result: seconds(result.duration_s), _took),
        _chart("Tokens", numbered, lambda result: float(result.usage.total_tokens), _counted),
        _chart("Cost", numbered, lambda result: result.total_cost_usd or 0.0, _cost),
    )
    return tuple(chart for chart in made if chart.bars)


def timeline(rows: Sequence[Row]) -> Timeline | None:
    """When the tasks ran; None where fewer than two say when they began."""
    begun = [
        (began_s, seconds(row.result.duration_s), row)
        for row in rows
        if row.result is not None and row.outcome != "skipped"
        if (began_s := _second(row.result.started_at)) is not None
    ]
    begun.sort(key=lambda one: one[:2])
    if len(begun) < 2:
        return None
    start_s = begun[0][0]
    length_s = max(began_s + took_s for began_s, took_s, _ in begun) - start_s
    if length_s <= 0:
        return None
    free: list[tuple[float, int]] = []
    ends: list[float] = []
    lanes = most = 0
    stretches = []
    for began_s, took_s, row in begun:
        while ends and ends[0] <= began_s:
            heapq.heappop(ends)
        heapq.heappush(ends, began_s + took_s)
        most = max(most, len(ends))
        if free and (free[0][0] <= began_s or lanes == LANES_MAX):
            lane = heapq.heappop(free)[1]
        else:
            lane, lanes = lanes, lanes + 1
        heapq.heappush(free, (began_s + took_s, lane))
        left = 100 * (began_s - start_s) / length_s
        width = max(100 * took_s / length_s, LEAST_WIDTH)
        title = f"{plain_line(row.name, 100)}: {row.word}, {took_s:.1f} s from {began_s - start_s:.1f} s"
        stretches.append(Stretch(round(left, 3), round(width, 3), lane, MARKS.get(row.word, "plain"), title))
    said = f"{len(stretches):,} tasks in {length_s:.1f} s, at most {most:,} at once"
    return Timeline(said, lanes, tuple(stretches), f"{length_s:.1f} s")


def _second(started_at: str | None) -> float | None:
    """A time stamp in seconds; None for what is none."""
    try:
        return datetime.fromisoformat(started_at).timestamp() if started_at else None
    except (ValueError, OverflowError, OSError):
        return None


def _chart(
    title: str,
    numbered: Numbered,
    measure: Callable[[RunResult], float],
    bar: Callable[[RunResult, float], tuple[str, tuple[tuple[float, Part], ...]]],
) -> Chart:
    """The greatest by a measure; `bar` gives a value in words, and its parts in the measure's unit."""
    measured = [(measure(result), number, row, result) for number, row, result in numbered]
    shown = [one for one in measured if one[0] > 0]
    greatest = heapq.nlargest(BARS_MAX, shown, key=lambda one: (one[0], -one[1]))
    if not greatest:
        return Chart(title, "", (), ())
    most, total = greatest[0][0], sum(amount for amount, *_ in shown)
    bars = []
    for amount, number, row, result in greatest:
        value, parts = bar(result, amount)
        name = plain_line(row.name, 80)
        said = f"{name}: {value}, {amount / total:.0%} of all"
        bars.append(Bar(number, name, value, said, _pieces(parts, most)))
    more = len(shown) - len(bars)
    note = f"the greatest {len(bars)} of {len(shown):,}" if more > 0 else ""
    known = {piece.part for one in bars for piece in one.pieces}
    legend = tuple(part for part in ("cached", "input", "written", "output") if part in known)
    return Chart(title, note, legend, tuple(bars))


def _pieces(parts: Sequence[tuple[float, Part]], most: float) -> tuple[Piece, ...]:
    made: list[Piece] = []
    left = 0.0
    for amount, part in parts:
        width = 100 * amount / most
        if width > 0:
            made.append(Piece(round(left, 3), round(max(width, LEAST_WIDTH), 3), part))
        left += width
    return tuple(made)


def _took(result: RunResult, amount: float) -> tuple[str, tuple[tuple[float, Part], ...]]:
    return f"{amount:.1f} s", ((amount, "all"),)


def _cost(result: RunResult, amount: float) -> tuple[str, tuple[tuple[float, Part], ...]]:
    return dollars(amount), ((amount, "all"),)


def _counted(result: RunResult, amount: float) -> tuple[str, tuple[tuple[float, Part], ...]]:
    usage = result.usage
    return f"{usage.total_tokens:,}", (
        (usage.cache_read_tokens, "cached"),
        (usage.input_tokens, "input"),
        (usage.cache_write_tokens, "written"),
        (usage.output_tokens, "output"),
    )
