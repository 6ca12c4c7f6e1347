"""Charts of a run: numbers that add up, within their rails, whatever the results hold."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from pi_batch.events import Record
from pi_batch.fold import fold
from pi_batch.messages import Usage
from pi_batch.reports.html.charts import BARS_MAX, LANES_MAX, Chart, charts, timeline
from pi_batch.reports.rows import Row, rows
from pi_batch.results import RunResult
from tests.reports.batches import HOSTILE, hostile, many, one_of_everything
from tests.streams import Stream, streams


def results_of(*values: dict[str, Any]) -> tuple[Row, ...]:
    """Rows of passed tasks with fields of their results set."""
    keys = [f"t{number}" for number in range(len(values))]
    stream = Stream(*keys)
    for key in keys:
        stream.start(key).agent(key).end(key)
    batch = fold(stream.finish().records)
    made: list[RunResult] = [
        replace(one, **fields) for one, fields in zip(batch.results, values, strict=True)
    ]
    return rows(replace(batch, results=tuple(made)))


def of(made: tuple[Chart, ...], title: str) -> Chart:
    (chart,) = [chart for chart in made if chart.title == title]
    return chart


def test_the_greatest_stand_first_with_their_share_in_words() -> None:
    made = charts(results_of({"total_cost_usd": 0.5}, {"total_cost_usd": 1.5}, {"total_cost_usd": None}))
    cost = of(made, "Cost")
    assert [(bar.name, bar.value) for bar in cost.bars] == [("t1", "$1.50"), ("t0", "$0.5000")]
    assert cost.bars[0].title == "t1: $1.50, 75% of all"
    assert [bar.pieces[0].width for bar in cost.bars] == [100.0, 33.333]
    assert [bar.number for bar in cost.bars] == [2, 1]
    assert cost.note == ""


def test_tokens_are_parted_by_what_they_were() -> None:
    made = charts(results_of({"usage": Usage(100, 50, 800, 50)}, {"usage": Usage(10, 0)}))
    tokens = of(made, "Tokens")
    assert tokens.legend == ("cached", "input", "written", "output")
    assert [(piece.part, piece.left, piece.width) for piece in tokens.bars[0].pieces] == [
        ("cached", 0.0, 80.0),
        ("input", 80.0, 10.0),
        ("written", 90.0, 5.0),
        ("output", 95.0, 5.0),
    ]
    assert [piece.part for piece in tokens.bars[1].pieces] == ["input"]


def test_what_is_nothing_everywhere_has_no_chart() -> None:
    made = charts(
        results_of({"total_cost_usd": 0.0, "usage": Usage()}, {"total_cost_usd": None, "usage": Usage()})
    )
    assert [chart.title for chart in made] == ["Time"]
    assert charts(rows(fold(Stream("a").finish().records))) == ()


def test_of_many_the_greatest_are_shown_and_the_rest_counted() -> None:
    time = of(charts(rows(many(40))), "Time")
    assert len(time.bars) == BARS_MAX
    assert time.note == "the greatest 10 of 40"


def at(second: int, took_s: float) -> dict[str, Any]:
    return {"started_at": f"2026-01-01T00:00:{second:02}.000Z", "duration_s": took_s}


def test_tasks_at_one_time_lie_in_lanes_of_their_own() -> None:
    made = timeline(results_of(at(0, 10.0), at(5, 10.0), at(10, 10.0)))
    assert made is not None
    assert made.lanes == 2
    assert [(one.left, one.width, one.lane) for one in made.stretches] == [
        (0.0, 50.0, 0),
        (25.0, 50.0, 1),
        (50.0, 50.0, 0),
    ]
    assert made.title == "3 tasks in 20.0 s, at most 2 at once"
    assert made.stretches[1].title == "t1: unverified, 10.0 s from 5.0 s"


def test_lanes_are_bounded() -> None:
    made = timeline(results_of(*(at(0, 10.0 + number) for number in range(40))))
    assert made is not None
    assert made.lanes == LANES_MAX
    assert max(one.lane for one in made.stretches) == LANES_MAX - 1
    assert made.title == "40 tasks in 49.0 s, at most 40 at once"


@pytest.mark.parametrize(
    "values", [(), (at(0, 5.0),), (at(0, 0.0), at(0, 0.0)), ({"started_at": "x"}, at(0, 1.0))]
)
def test_a_line_of_time_needs_two_tasks_that_took_some(values: tuple[dict[str, Any], ...]) -> None:
    assert timeline(results_of(*values)) is None


@pytest.mark.parametrize("duration_s", [math.nan, math.inf, -1.0, 1e300])
def test_durations_that_are_none_stay_within_the_rail(duration_s: float) -> None:
    assert_within(results_of(at(0, duration_s), at(5, 1.0)))


@given(streams())
@settings(max_examples=10, deadline=None)
def test_bars_stay_within_their_rails(records: list[Record]) -> None:
    assert_within(rows(fold(records)))


def assert_within(shown: tuple[Row, ...]) -> None:
    for chart in charts(shown):
        for bar in chart.bars:
            for piece in bar.pieces:
                assert 0 <= piece.left <= 100
                assert 0 < piece.width <= 100
    made = timeline(shown)
    for one in made.stretches if made is not None else ():
        assert 0 <= one.left <= 100
        assert 0 < one.width <= 100.001


def test_names_are_one_line() -> None:
    for batch in (hostile(HOSTILE), one_of_everything()):
        for chart in charts(rows(batch)):
            assert all("\n" not in bar.name + bar.title for bar in chart.bars)
