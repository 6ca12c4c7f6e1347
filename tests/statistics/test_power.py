"""What a suite can see."""

from __future__ import annotations

from random import Random

import pytest

from pi_batch.statistics.power import expected_deviation, paired_deviation, smallest_difference
from pi_batch.statistics.rates import Tally
from pi_batch.statistics.significance import mcnemar_exact


def test_more_tasks_and_tasks_that_differ_less_see_more() -> None:
    few, many = smallest_difference(0.6, 30, 1), smallest_difference(0.6, 300, 1)
    assert few is not None
    assert many is not None
    assert few == pytest.approx(0.307, abs=0.001)  # (1.960 + 0.842) * 0.6 / sqrt(30)
    assert many == pytest.approx(few / 10**0.5)
    calm = smallest_difference(0.3, 30, 3)
    assert calm == pytest.approx(few / 2)


def test_fewer_than_six_tasks_see_nothing() -> None:
    assert smallest_difference(0.5, 5, 9) is None
    assert smallest_difference(0.5, 0, 1) is None
    assert smallest_difference(0.0, 6, 1) == 1.0


def test_models_that_agree_everywhere_still_need_six_tasks_that_differ() -> None:
    assert smallest_difference(0.0, 60, 1) == pytest.approx(0.1)
    assert smallest_difference(0.0, 60, 3) == pytest.approx(0.1 / 3)


def test_a_deviation_is_that_of_the_differences() -> None:
    pairs = [(Tally(1, 1), Tally(0, 1)), (Tally(0, 1), Tally(1, 1)), (Tally(1, 1), Tally(1, 1))]
    assert paired_deviation(pairs) == pytest.approx(1.0)
    assert paired_deviation(pairs[:1]) == paired_deviation([]) == 0.0


def test_a_clean_sheet_is_no_certainty() -> None:
    assert 0.2 < expected_deviation([Tally(1, 1)] * 30) < 0.4
    assert expected_deviation([Tally(1, 2)] * 10) == pytest.approx(0.5**0.5)
    assert expected_deviation([]) == pytest.approx(0.5**0.5)


@pytest.mark.slow
def test_four_of_five_comparisons_find_that_difference() -> None:
    """60 tasks, one in three of which comes out otherwise; McNemar's test, being exact, finds fewer."""
    random = Random(5)
    tasks, otherwise = 60, 0.35
    difference = smallest_difference(otherwise**0.5, tasks, 1)
    assert difference is not None
    found = 0
    for _ in range(2_000):
        drawn = [random.random() for _ in range(tasks)]
        better = sum(one < (otherwise + difference) / 2 for one in drawn)
        worse = sum((otherwise + difference) / 2 <= one < otherwise for one in drawn)
        found += mcnemar_exact(worse, better) <= 0.05
    assert 0.7 <= found / 2_000 <= 0.9
