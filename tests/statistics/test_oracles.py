"""The same numbers from scipy, statsmodels and numpy, over grids and drawn data."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from pi_batch.statistics.amounts import quantile
from pi_batch.statistics.power import smallest_difference
from pi_batch.statistics.rates import Tally, wilson
from pi_batch.statistics.resampling import bootstrap_difference, bootstrap_rate
from pi_batch.statistics.significance import holm, mcnemar_exact, sign_flip

pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]


def test_wilson_s_intervals() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for trials in (1, 2, 7, 30, 333, 5_000):
        for passes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
            for alpha in (0.01, 0.05, 0.2):
                low, high = proportion.proportion_confint(passes, trials, alpha, "wilson")
                found = wilson(passes, trials, 1 - alpha)
                assert [found.low, found.high] == pytest.approx([low, high], abs=1e-9)


def test_mcnemar_s_test() -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for worse in range(0, 40, 3):
        for better in range(0, 40, 4):
            if worse or better:
                p = tables.mcnemar([[0, worse], [better, 0]], exact=True).pvalue
                assert mcnemar_exact(worse, better) == pytest.approx(p, abs=1e-12)


def test_the_sign_flip_test() -> None:
    stats, numpy = pytest.importorskip("scipy.stats"), pytest.importorskip("numpy")
    random = Random(2)
    for _ in range(30):
        parts = [random.randint(-3, 3) for _ in range(random.randint(2, 11))]
        found = sign_flip([Fraction(part, 3) for part in parts])
        peer = stats.permutation_test(
            (numpy.array(parts, dtype=float),), numpy.sum, permutation_type="samples", n_resamples=numpy.inf
        )
        assert found.p == pytest.approx(peer.pvalue, abs=1e-12), parts


def test_holm_s_correction() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    random = Random(4)
    for count in (1, 2, 5, 45):
        raw = [random.random() ** 3 for _ in range(count)]
        assert holm(raw) == pytest.approx(tuple(multitest.multipletests(raw, method="holm")[1]))


def test_quantiles() -> None:
    numpy = pytest.importorskip("numpy")
    random = Random(6)
    for count in (1, 2, 10, 101):
        values = sorted(random.expovariate(1) for _ in range(count))
        for part in (0.0, 0.1, 0.5, 0.9, 1.0):
            assert quantile(values, part) == pytest.approx(numpy.quantile(values, part))


def test_the_bootstrap_of_one_trial_a_task() -> None:
    """With one trial a task the second level adds nothing: scipy's bootstrap of the mean is the same."""
    stats, numpy = pytest.importorskip("scipy.stats"), pytest.importorskip("numpy")
    came = numpy.array([1.0] * 41 + [0.0] * 19)
    peer = stats.bootstrap(
        (came,), numpy.mean, n_resamples=20_000, method="percentile", random_state=1
    ).confidence_interval
    found = bootstrap_rate([Tally(int(one), 1) for one in came])
    assert [found.low, found.high] == pytest.approx([peer.low, peer.high], abs=0.02)


def test_the_paired_bootstrap_of_one_trial_a_task() -> None:
    stats, numpy = pytest.importorskip("scipy.stats"), pytest.importorskip("numpy")
    pairs = [(1, 1)] * 30 + [(1, 0)] * 12 + [(0, 1)] * 4 + [(0, 0)] * 14
    steps = numpy.array([float(b - a) for a, b in pairs])
    peer = stats.bootstrap(
        (steps,), numpy.mean, n_resamples=20_000, method="percentile", random_state=1
    ).confidence_interval
    found = bootstrap_difference([(Tally(a, 1), Tally(b, 1)) for a, b in pairs])
    assert [found.low, found.high] == pytest.approx([peer.low, peer.high], abs=0.02)


def test_the_smallest_difference() -> None:
    """The effect at which statsmodels' z test of one sample has the same power."""
    power = pytest.importorskip("statsmodels.stats.power")
    for deviation, tasks in ((0.6, 30), (0.4, 100), (0.7, 1_000)):
        effect = power.NormalIndPower(ddof=0).solve_power(
            nobs1=tasks, alpha=0.05, power=0.8, ratio=0, alternative="two-sided"
        )
        assert smallest_difference(deviation, tasks, 3) == pytest.approx(effect * deviation, rel=1e-3)
