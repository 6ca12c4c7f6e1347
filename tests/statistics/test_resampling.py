"""The two-level bootstrap: alike each time, right in its mean and width, and sound at its edges."""

from __future__ import annotations

from math import sqrt
from random import Random

import pytest

from pi_batch.statistics.rates import Tally, wilson
from pi_batch.statistics.resampling import bootstrap_difference, bootstrap_rate

MIXED = [Tally(3, 3)] * 10 + [Tally(2, 3)] * 5 + [Tally(1, 3)] * 5 + [Tally(0, 3)] * 10


def test_the_same_seed_gives_the_same_interval() -> None:
    once = bootstrap_rate(MIXED, seed=7, resamples=500)
    assert once == bootstrap_rate(MIXED, seed=7, resamples=500)
    assert once.method == "bootstrap"
    assert once != bootstrap_rate(MIXED, seed=8, resamples=500)


def test_the_order_of_tasks_changes_nothing() -> None:
    assert bootstrap_rate(MIXED, resamples=300) == bootstrap_rate(MIXED[::-1], resamples=300)


def test_the_interval_is_that_of_drawing_tasks_and_then_trials() -> None:
    """The plain way, in as many words, comes to the same interval within the error of drawing."""
    random = Random(3)
    trials = [[True] * one.passes + [False] * (one.trials - one.passes) for one in MIXED]
    means = []
    for _ in range(2_000):
        tasks = random.choices(trials, k=len(trials))
        means.append(sum(sum(random.choices(task, k=3)) / 3 for task in tasks) / len(tasks))
    means.sort()
    found = bootstrap_rate(MIXED, resamples=2_000)
    assert found.low == pytest.approx(means[50], abs=0.02)
    assert found.high == pytest.approx(means[1949], abs=0.02)


def test_the_width_is_that_of_both_levels() -> None:
    """Normal theory: variance between tasks, and once more that of a task's trials."""
    rates = [one.rate for one in MIXED]
    mean = sum(rates) / 30
    between = sum((rate - mean) ** 2 for rate in rates) / 30
    within = sum(rate * (1 - rate) / 3 for rate in rates) / 30
    found = bootstrap_rate(MIXED, resamples=2_000)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * sqrt((between + within) / 30), rel=0.1)


@pytest.mark.parametrize("tasks", [1, 2, 30])
@pytest.mark.parametrize("passes", [0, 3])
def test_where_all_tasks_came_out_alike_the_interval_is_not_empty(tasks: int, passes: int) -> None:
    found = bootstrap_rate([Tally(passes, 3)] * tasks)
    assert found == wilson(tasks if passes else 0, tasks)


def test_one_task_tried_several_times_is_an_interval() -> None:
    found = bootstrap_rate([Tally(1, 3)], resamples=500)
    assert (found.low, found.high) == (0.0, 1.0)


def test_repeats_may_be_unequal() -> None:
    found = bootstrap_rate([Tally(1, 1), Tally(0, 2), Tally(2, 7), Tally(5, 5)] * 5, resamples=500)
    assert 0 < found.low < (1 + 0 + 2 / 7 + 1) / 4 < found.high < 1


def test_a_difference_is_paired_by_task() -> None:
    """Where B is a little better on each task the interval is narrow, however far apart the tasks are."""
    easy, hard = (Tally(18, 20), Tally(19, 20)), (Tally(0, 20), Tally(1, 20))
    paired = bootstrap_difference([easy, hard] * 15, resamples=500)
    crossed = bootstrap_difference([(easy[0], hard[1]), (hard[0], easy[1])] * 15, resamples=500)
    assert paired.high - paired.low < 0.1
    assert crossed.high - crossed.low > 0.5


def test_the_same_on_both_sides_is_no_difference_at_all() -> None:
    found = bootstrap_difference([(Tally(1, 1), Tally(1, 1)), (Tally(0, 1), Tally(0, 1))], resamples=100)
    assert (found.low, found.high) == (0.0, 0.0)


def test_turned_round_a_difference_has_the_other_sign() -> None:
    pairs = [(Tally(1, 3), Tally(2, 3)), (Tally(3, 3), Tally(0, 3)), (Tally(1, 3), Tally(3, 3))] * 6
    there = bootstrap_difference(pairs, resamples=2_000)
    back = bootstrap_difference([(b, a) for a, b in pairs], resamples=2_000)
    assert there.low == pytest.approx(-back.high, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "repeats", "spread"), [(30, 3, 0.5), (30, 3, 3.0), (100, 2, 0.5)])
def test_nineteen_of_twenty_intervals_hold_the_truth(tasks: int, repeats: int, spread: float) -> None:
    """Tasks with beta-distributed difficulty around 0.6; two levels cover a few more than 95 %."""
    random = Random(11)
    held = 0
    for number in range(300):
        tallies = []
        for _ in range(tasks):
            chance = random.betavariate(0.6 * spread, 0.4 * spread)
            tallies.append(Tally(sum(random.random() < chance for _ in range(repeats)), repeats))
        found = bootstrap_rate(tallies, seed=number, resamples=400)
        held += found.low <= 0.6 <= found.high
    assert held / 300 >= 0.93
