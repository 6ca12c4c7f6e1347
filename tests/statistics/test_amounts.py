"""Means, medians and p90; what is not known is said and never a zero."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_batch.statistics.amounts import quantile, spread


def test_a_spread_is_of_scored_trials_and_its_total_of_all() -> None:
    found = spread([4.0, 1.0, 2.0, 3.0], [10.0], 2)
    assert (found.mean, found.median, found.known, found.unknown) == (2.5, 2.5, 4, 0)
    assert found.p90 == pytest.approx(3.7)
    assert found.total == 20.0
    assert found.per_solved == 10.0


@pytest.mark.parametrize("unknown", [None, nan, inf])
def test_an_unknown_amount_is_counted_and_makes_the_total_unknown(unknown: float | None) -> None:
    found = spread([1.0, unknown, 3.0], [], 1)
    assert (found.known, found.unknown, found.mean) == (2, 1, 2.0)
    assert found.total is None
    assert found.per_solved is None
    assert spread([1.0], [unknown], 1).total is None


def test_nothing_solved_costs_no_number_each() -> None:
    found = spread([1.0], [], 0)
    assert (found.total, found.per_solved) == (1.0, None)


def test_without_trials_nothing_is_known() -> None:
    found = spread([], [], 0)
    assert (found.mean, found.median, found.p90, found.total) == (None, None, None, 0.0)
    assert spread([None], [], 1).mean is None


def test_one_trial_is_its_own_mean_median_and_p90() -> None:
    found = spread([0.25], [], 1)
    assert (found.mean, found.median, found.p90, found.per_solved) == (0.25, 0.25, 0.25, 0.25)


def test_quantiles_are_those_of_numpy() -> None:
    for part, value in ((0, 1), (0.1, 1.5), (0.25, 2.5), (0.5, 6), (0.9, 24), (1, 32)):
        assert quantile([1, 2, 4, 8, 16, 32], part) == pytest.approx(value)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.floats(0, 1))
def test_a_quantile_lies_within_and_grows_with_its_part(values: list[float], part: float) -> None:
    ordered = sorted(values)
    found = quantile(ordered, part)
    assert ordered[0] <= found <= ordered[-1] * (1 + 1e-12)
    assert quantile(ordered, part / 2) <= found * (1 + 1e-12)
