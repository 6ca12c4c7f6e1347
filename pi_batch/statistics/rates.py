"""Rates of passing: an interval around one, and what k tries come to."""

from __future__ import annotations

from math import comb, sqrt
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

CONFIDENCE = 0.95

IntervalMethod = Literal["wilson", "bootstrap"]


class Interval(Struct, frozen=True):
    """Where a value lies, with a confidence of 95 % where nothing else is said."""

    low: float
    high: float
    method: IntervalMethod


class Tally(Struct, frozen=True):
    """What came of one task: its trials are a cluster, alike in difficulty."""

    passes: int
    trials: int

    @property
    def rate(self) -> float:
        """The part that passed. Raises: ZeroDivisionError without a trial."""
        return self.passes / self.trials


def wilson(passes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of a rate; from 0 to 1 where there is no trial.

    Never outside of 0 to 1, and never of width 0. Source: Wilson 1927, doi:10.1080/01621459.1927.10502953.
    """
    if trials == 0:
        return Interval(0.0, 1.0, "wilson")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = passes / trials
    scale = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / scale
    half = z * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials)) / scale
    low = 0.0 if passes == 0 else max(0.0, centre - half)
    high = 1.0 if passes == trials else min(1.0, centre + half)
    return Interval(low, high, "wilson")


def pass_at_k(tally: Tally, k: int) -> float | None:
    """Chance that at least one of k trials passes, without bias; None where fewer than k were made.

    Source: Chen et al. 2021, arXiv:2107.03374, equation 1.
    """
    if not 1 <= k <= tally.trials:
        return None
    return 1 - comb(tally.trials - tally.passes, k) / comb(tally.trials, k)


def pass_hat_k(tally: Tally, k: int) -> float | None:
    """Chance that all of k trials pass, without bias; None where fewer than k were made.

    Source: Yao et al. 2024, arXiv:2406.12045, section 4.
    """
    if not 1 <= k <= tally.trials:
        return None
    return comb(tally.passes, k) / comb(tally.trials, k)
