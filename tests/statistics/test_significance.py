"""The tests of pairs, beside all ways to put signs, and values of scipy 1.17.1 and statsmodels 0.15.0."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_batch.statistics.significance import holm, mcnemar_exact, sign_flip

MCNEMAR = [
    # worse, better, p: statsmodels.stats.contingency_tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue
    (0, 0, 1.0),
    (1, 0, 1.0),
    (0, 5, 0.0625),
    (6, 0, 0.03125),
    (3, 9, 0.14599609375),
    (20, 40, 0.01348929373119186),
    (7, 7, 1.0),
]

quarters = st.lists(st.sampled_from([Fraction(n, 4) for n in range(-4, 5)]), min_size=1, max_size=9)


@pytest.mark.parametrize(("worse", "better", "p"), MCNEMAR)
def test_mcnemar_is_what_statsmodels_gives(worse: int, better: int, p: float) -> None:
    assert mcnemar_exact(worse, better) == pytest.approx(p, abs=1e-12)
    assert mcnemar_exact(better, worse) == mcnemar_exact(worse, better)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_for_differences_of_one_the_sign_flip_test_is_mcnemar_s(worse: int, better: int, ties: int) -> None:
    steps = [Fraction(-1)] * worse + [Fraction(1)] * better + [Fraction(0)] * ties
    assert sign_flip(steps).p == pytest.approx(mcnemar_exact(worse, better), abs=1e-15)


@settings(max_examples=25)
@given(quarters)
def test_the_sign_flip_test_counts_every_way_to_put_signs(steps: list[Fraction]) -> None:
    observed = abs(sum(steps, Fraction(0)))
    ways = [
        abs(sum((sign * step for sign, step in zip(signs, steps, strict=True)), Fraction(0)))
        for signs in product((1, -1), repeat=len(steps))
    ]
    found = sign_flip(steps)
    assert found.name == "sign-flip exact"
    assert found.p == pytest.approx(sum(way >= observed for way in ways) / len(ways), abs=1e-15)


def test_no_difference_and_no_task_are_no_evidence() -> None:
    assert sign_flip([]).p == sign_flip([Fraction(0)] * 5).p == 1.0


def test_differences_that_cancel_are_no_evidence() -> None:
    assert sign_flip([Fraction(1, 3), Fraction(-1, 3)]).p == 1.0


def test_a_thousand_tasks_are_counted_exactly() -> None:
    found = sign_flip([Fraction(1, 3)] * 430 + [Fraction(-2, 3)] * 270 + [Fraction(0)] * 300)
    assert found.name == "sign-flip exact"
    deviation = (430 / 9 + 270 * 4 / 9) ** 0.5
    nearly = 2 * NormalDist(0, deviation).cdf(-(270 * 2 - 430) / 3 + 1 / 3)  # half a step for continuity
    assert found.p == pytest.approx(nearly, rel=0.02)


def test_where_counting_grows_out_of_hand_signs_are_drawn_alike_each_time() -> None:
    steps = [Fraction(1, 3)] * 9 + [Fraction(-1, 7)] * 5
    exact = sign_flip(steps)
    drawn = sign_flip(steps, seed=1, samples=2_000, max_exact_bits=0)
    assert drawn.name == "sign-flip sampled"
    assert drawn == sign_flip(steps, seed=1, samples=2_000, max_exact_bits=0)
    assert drawn.p == pytest.approx(exact.p, abs=0.03)
    assert drawn.p > 0


def test_holm_is_what_statsmodels_gives() -> None:
    """The values of `multipletests(..., method="holm")`."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.5, 0.9, 0.7]) == (1.0, 1.0, 1.0)
    assert holm([]) == ()
    assert holm([0.04]) == (0.04,)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_lies_between_raw_and_bonferroni(values: list[float]) -> None:
    found = holm(values)
    for raw, adjusted in zip(values, found, strict=True):
        assert raw <= adjusted <= min(1.0, raw * len(values)) or adjusted == pytest.approx(raw)
    by_raw = sorted(range(len(values)), key=lambda index: values[index])
    assert [found[index] for index in by_raw] == sorted(found)
