"""What a suite can see: the smallest difference that it would find four times of five."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2, sqrt
from statistics import NormalDist, pvariance

from pi_batch.statistics.rates import Tally

ALPHA = 0.05
POWER = 0.8


def smallest_difference(
    deviation: float, tasks: int, repeats: int, *, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """Difference of two models' rates that a paired test of `tasks` tasks finds with this power.

    `deviation` is the standard deviation over tasks of the difference of the two rates of a task. No test can
    do with less than six tasks that all differ in one direction (at 5 %): that is the least there is, and
    with fewer tasks nothing is seen: None.
    Source: Miller 2024, arXiv:2411.00640, section 5.
    """
    needed = ceil(1 - log2(alpha))
    if tasks < needed:
        return None
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    return min(1.0, max(z * deviation / sqrt(tasks), needed / (tasks * repeats)))


def paired_deviation(pairs: Sequence[tuple[Tally, Tally]]) -> float:
    """Standard deviation over tasks of the second's rate less the first's; 0 for a single task."""
    differences = [b.rate - a.rate for a, b in pairs]
    count = len(differences)
    return sqrt(pvariance(differences) * count / (count - 1)) if count > 1 else 0.0


def expected_deviation(tallies: Sequence[Tally]) -> float:
    """What `paired_deviation` would be between this model and another of its rate that solves other tasks.

    The worst case for a pair: results that agree on the hard and the easy tasks differ less. The rate is
    drawn towards a half by two passes and two failures: a clean sheet is no certainty.
    Source: Agresti and Coull 1998, doi:10.1080/00031305.1998.10480550.
    """
    rate = (sum(tally.rate for tally in tallies) + 2) / (len(tallies) + 4)
    return sqrt(2 * rate * (1 - rate))
