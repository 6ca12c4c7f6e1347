"""Wilson's interval and the chances of k trials, beside values of statsmodels 0.15.0 and by their meaning."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_batch.statistics.rates import Tally, pass_at_k, pass_hat_k, wilson

WILSON = [
    # passes, trials, confidence, low, high: statsmodels.stats.proportion.proportion_confint(method="wilson")
    (0, 1, 0.95, 0.0, 0.7934506856227626),
    (1, 1, 0.95, 0.20654931437723745, 1.0),
    (0, 30, 0.95, 0.0, 0.11351339317396876),
    (15, 30, 0.95, 0.33154125640533766, 0.6684587435946623),
    (29, 30, 0.95, 0.8332960900859082, 0.9940914096183874),
    (333, 1000, 0.95, 0.3044779033483562, 0.3628002339858192),
    (7, 9, 0.9, 0.5036427823767538, 0.9235052624456037),
]


@pytest.mark.parametrize(("passes", "trials", "confidence", "low", "high"), WILSON)
def test_wilson_is_what_statsmodels_gives(
    passes: int, trials: int, confidence: float, low: float, high: float
) -> None:
    found = wilson(passes, trials, confidence)
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-12)
    assert found.method == "wilson"


@settings(max_examples=30)
@given(st.integers(1, 2_000), st.data())
def test_wilson_holds_the_rate_and_stays_within_nought_and_one(trials: int, data: st.DataObject) -> None:
    passes = data.draw(st.integers(0, trials))
    found = wilson(passes, trials)
    assert 0 <= found.low <= passes / trials <= found.high <= 1
    assert found.high > found.low
    mirrored = wilson(trials - passes, trials)
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-12)


def test_without_a_trial_a_rate_may_be_anything() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_the_ends_are_exact_where_all_or_none_passed() -> None:
    for trials in (1, 3, 30, 999):
        assert wilson(0, trials).low == 0.0
        assert wilson(trials, trials).high == 1.0


@settings(max_examples=30)
@given(st.integers(1, 7), st.data())
def test_k_of_n_trials_are_all_ways_to_choose_them(trials: int, data: st.DataObject) -> None:
    passes = data.draw(st.integers(0, trials))
    k = data.draw(st.integers(1, trials))
    tally = Tally(passes, trials)
    came = [True] * passes + [False] * (trials - passes)
    chosen = [[came[index] for index in choice] for choice in combinations(range(trials), k)]
    assert pass_at_k(tally, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_hat_k(tally, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_more_tries_than_trials_are_unknown_and_no_zero() -> None:
    for tally, k in ((Tally(1, 2), 3), (Tally(0, 0), 1), (Tally(3, 3), 0), (Tally(3, 3), -1)):
        assert pass_at_k(tally, k) is None
        assert pass_hat_k(tally, k) is None


def test_one_try_is_the_rate() -> None:
    tally = Tally(2, 5)
    assert pass_at_k(tally, 1) == pytest.approx(tally.rate)
    assert pass_hat_k(tally, 1) == pytest.approx(tally.rate)


def test_large_numbers_of_trials_do_not_overflow() -> None:
    assert pass_at_k(Tally(1, 10_000), 5_000) == pytest.approx(0.5)
    assert pass_hat_k(Tally(9_999, 10_000), 5_000) == pytest.approx(0.5)
