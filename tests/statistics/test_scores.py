"""Tasks as clusters: each counts the same, and pairs are of the same content."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pi_batch.statistics.rates import Tally, wilson
from pi_batch.statistics.scores import difference_of, mean_rate, rate_interval, scored_tallies, shared
from tests.statistics.making import entrant, single


def test_a_task_counts_the_same_however_often_it_was_tried() -> None:
    found = list(scored_tallies(entrant("m", {"a": "++++++", "b": "-"})).values())
    assert mean_rate(found) == 0.5
    assert mean_rate([]) is None


def test_trials_that_are_not_scored_do_not_dilute_a_rate() -> None:
    found = scored_tallies(entrant("m", {"a": "+em", "b": "ee", "c": "s"}))
    assert list(found.values()) == [Tally(1, 1)]


def test_one_trial_each_has_wilson_s_interval_and_repeats_the_bootstrap_s() -> None:
    assert rate_interval([Tally(1, 1), Tally(0, 1)], 0) == wilson(1, 2)
    assert rate_interval([], 0) == wilson(0, 0)
    assert rate_interval([Tally(1, 1), Tally(1, 2)], 0).method == "bootstrap"


def test_only_tasks_of_the_same_content_with_scored_trials_on_both_sides_are_shared() -> None:
    a = entrant("a", {"same": "+", "error": "+", "only-a": "+"})
    b = entrant("b", {"same": "-", "error": "e", "only-b": "+"})
    assert [task.id for task in shared(a, b)] == ["same"]
    assert shared(a, entrant("b", {"same": "-"}, digest="other")) == {}


def test_differences_are_exact() -> None:
    assert difference_of([(Tally(1, 3), Tally(2, 3)), (Tally(1, 7), Tally(0, 2))]) == (
        Fraction(1, 3),
        Fraction(-1, 7),
    )


@pytest.mark.parametrize("signs", ["+", "-", "+-", "++--+"])
def test_an_interval_holds_its_rate(signs: str) -> None:
    tallies = list(scored_tallies(single("m", signs)).values())
    found = rate_interval(tallies, 0)
    assert found.low <= signs.count("+") / len(signs) <= found.high
