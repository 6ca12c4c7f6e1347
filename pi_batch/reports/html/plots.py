"""Plots of benchmarks as places in a drawing: an interval in a cell, models by cost and pass rate.

Only places are computed; templates draw them as SVG, style sheets colour them. No script, no foreign text but
in text nodes and titles.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

from msgspec import Struct

from pi_batch.statistics.rates import Interval

WIDTH, HEIGHT = 720, 340
LEFT, RIGHT, TOP, BOTTOM = 52, 700, 16, 296
"""The frame of the plot within the drawing."""
LOG_FROM_RATIO = 30
"""Where the dearest costs so many times the cheapest, each decade gets the same room."""
SAME_PLACE = 13.0
"""Marks nearer than this share a label."""


class Whisker(Struct, frozen=True):
    """An interval across a cell, in percent of its width."""

    low: float
    at: float
    high: float
    zero: float | None = None
    """Where a line stands for no difference."""
    margin: float | None = None
    """Where a line stands for what is allowed."""

    @property
    def width(self) -> float:
        """How long the bar is; never too short to be seen."""
        return max(self.high - self.low, 0.6)


class Tick(Struct, frozen=True):
    """A line of the scale and its label."""

    at: float
    text: str


class Point(Struct, frozen=True):
    """A model to be drawn."""

    label: str
    title: str
    cost: float
    rate: float
    interval: Interval
    is_on_frontier: bool


class Mark(Struct, frozen=True):
    """A model's place, and its whiskers."""

    x: float
    y: float
    top: float
    bottom: float
    label: str
    """Empty where another mark at the same place says it."""
    title: str
    is_on_frontier: bool


class Scatter(Struct, frozen=True):
    """Models by cost and pass rate, with the line of those that nobody beats."""

    marks: tuple[Mark, ...]
    frontier: str
    """Corners of the line, as SVG has them; empty with fewer than two."""
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    is_log: bool


def whisker(low: float, value: float, high: float) -> Whisker:
    """A rate between 0 and 1."""
    return Whisker(_place(low), _place(value), _place(high))


def difference_whisker(interval: Interval, value: float, margin: float) -> Whisker:
    """A difference between -1 and 1, on a scale that just holds it, with no difference and the margin."""
    reach = 1.15 * max(abs(interval.low), abs(interval.high), margin, 0.01)

    def place(difference: float) -> float:
        return _place((difference + reach) / (2 * reach))

    return Whisker(
        place(interval.low),
        place(value),
        place(interval.high),
        place(0.0),
        place(-margin) if margin else None,
    )


def scatter(points: Sequence[Point]) -> Scatter | None:
    """The chart; None without a point."""
    if not points:
        return None
    costs = [round(point.cost, 9) for point in points]
    is_log = min(costs) > 0 and max(costs) / min(costs) >= LOG_FROM_RATIO
    low, high, steps = _decades(costs) if is_log else _steps(max(costs))

    def x(cost: float) -> float:
        along = (log10(cost) - low) / (high - low) if is_log else cost / high
        return round(LEFT + along * (RIGHT - LEFT), 1)

    marks = _labelled([_mark(point, x(cost)) for point, cost in zip(points, costs, strict=True)])
    best = sorted((mark.x, mark.y) for mark in marks if mark.is_on_frontier)
    return Scatter(
        marks,
        " ".join(f"{at},{height}" for at, height in best) if len(best) > 1 else "",
        tuple(Tick(x(step), f"${step:.6g}") for step in steps),
        tuple(Tick(_y(part / 4), f"{25 * part} %") for part in range(5)),
        is_log,
    )


def _mark(point: Point, x: float) -> Mark:
    return Mark(
        x,
        _y(point.rate),
        _y(point.interval.high),
        _y(point.interval.low),
        point.label,
        point.title,
        point.is_on_frontier,
    )


def _labelled(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks at the same place share one label, that of the first."""
    labels = [[mark.label] for mark in marks]
    for index, mark in enumerate(marks):
        for earlier in range(index):
            other = marks[earlier]
            if labels[earlier] and abs(other.x - mark.x) + abs(other.y - mark.y) < SAME_PLACE:
                labels[earlier].append(mark.label)
                labels[index] = []
                break
    return tuple(
        Mark(one.x, one.y, one.top, one.bottom, ", ".join(label), one.title, one.is_on_frontier)
        for one, label in zip(marks, labels, strict=True)
    )


def _steps(highest: float) -> tuple[float, float, list[float]]:
    """The scale's ends, and round steps from 0 to above the highest cost."""
    if highest <= 0:
        return 0.0, 1.0, [0.0]
    rough = highest / 4
    unit: float = 10 ** floor(log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.999)
    count = ceil(highest / step * 0.999)
    return 0.0, step * count, [step * number for number in range(count + 1)]


def _decades(costs: Sequence[float]) -> tuple[float, float, list[float]]:
    """The scale's ends as logarithms, and powers of ten."""
    low, high = floor(log10(min(costs))), ceil(log10(max(costs)))
    return low, high, [10.0**power for power in range(low, high + 1)]


def _y(rate: float) -> float:
    return round(BOTTOM - rate * (BOTTOM - TOP), 1)


def _place(part: float) -> float:
    return round(100 * min(max(part, 0.0), 1.0), 2)
