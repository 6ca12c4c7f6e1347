"""Places of plots: within their frame, in their order, and told apart."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.reports.html.plots import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Point,
    difference_whisker,
    scatter,
    whisker,
)
from pi_batch.statistics.rates import Interval, wilson

points = st.lists(
    st.builds(
        lambda number, cost, passes: Point(str(number), "m", cost, passes / 9, wilson(passes, 9), passes > 5),
        st.integers(1, 99),
        st.floats(0, 1e4),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=9,
)


def point(label: str, cost: float, rate: float, *, is_on_frontier: bool = True) -> Point:
    return Point(label, label, cost, rate, Interval(rate / 2, (1 + rate) / 2, "wilson"), is_on_frontier)


@given(points)
def test_every_mark_lies_within_the_frame_with_its_whiskers_around_it(found: list[Point]) -> None:
    chart = scatter(found)
    assert chart is not None
    for mark in chart.marks:
        assert LEFT <= mark.x <= RIGHT + 0.1
        assert TOP <= mark.top <= mark.y <= mark.bottom <= BOTTOM
    for tick in chart.x_ticks:
        assert LEFT <= tick.at <= RIGHT + 0.1
    assert [left.at < right.at for left, right in pairwise(chart.x_ticks)] == [True] * (
        len(chart.x_ticks) - 1
    )


def test_no_model_is_no_chart() -> None:
    assert scatter([]) is None


def test_costs_far_apart_get_a_decade_each() -> None:
    chart = scatter([point("a", 0.004, 0.2), point("b", 0.9, 0.8)])
    assert chart is not None
    assert chart.is_log
    assert [tick.text for tick in chart.x_ticks] == ["$0.001", "$0.01", "$0.1", "$1"]


def test_costs_near_each_other_or_none_get_a_plain_scale() -> None:
    chart = scatter([point("a", 0.3, 0.2), point("b", 0.9, 0.8)])
    assert chart is not None
    assert [tick.text for tick in chart.x_ticks] == ["$0", "$0.5", "$1"]
    free = scatter([point("a", 0.0, 0.5)])
    assert free is not None
    assert [(tick.at, tick.text) for tick in free.x_ticks] == [(LEFT, "$0")]


def test_marks_at_the_same_place_share_a_label() -> None:
    chart = scatter([point("1", 1, 0.5), point("2", 1, 0.5), point("3", 9, 0.9)])
    assert chart is not None
    assert [mark.label for mark in chart.marks] == ["1, 2", "", "3"]


def test_the_line_joins_the_frontier_from_the_cheapest_on() -> None:
    chart = scatter([point("b", 2, 0.9), point("x", 2, 0.1, is_on_frontier=False), point("a", 1, 0.5)])
    assert chart is not None
    xs = [float(corner.split(",")[0]) for corner in chart.frontier.split(" ")]
    assert len(xs) == 2
    assert xs == sorted(xs)
    alone = scatter([point("a", 1, 0.5)])
    assert alone is not None
    assert alone.frontier == ""


def test_a_rate_s_interval_is_in_percent_of_the_cell() -> None:
    found = whisker(0.25, 0.5, 0.8)
    assert (found.low, found.at, found.high, found.zero) == (25.0, 50.0, 80.0, None)
    assert found.width == pytest.approx(55.0)
    assert whisker(1.0, 1.0, 1.0).width > 0


def test_a_difference_has_its_zero_in_the_middle_and_the_margin_left_of_it() -> None:
    found = difference_whisker(Interval(-0.2, 0.1, "bootstrap"), -0.05, 0.05)
    assert found.zero == 50.0
    assert found.margin is not None
    assert 0 < found.low < found.margin < found.zero < found.high < 100
    assert difference_whisker(Interval(0.0, 0.0, "bootstrap"), 0.0, 0.0).margin is None
