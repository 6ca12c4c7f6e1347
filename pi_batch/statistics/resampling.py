"""Bootstrap with tasks as clusters: what an interval would be if other tasks like these had been tried.

A rate is resampled at two levels: tasks are drawn, and of each drawn task its trials, both with replacement.
That counts the chance within a task twice, and so errs to the wide side. A difference is resampled by whole
tasks, which counts it once, as the sign-flip test beside it does.

Drawing a task and then its trials comes to one draw from a mixture: each task's binomial distribution, all
with the same weight. So a resample is as many draws from one short table of values as there are tasks.
The table holds whole numbers (parts of the trials' least common multiple): sums of them are exact.

Source: Davison and Hinkley 1997, Bootstrap Methods and their Application, section 3.8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import comb, lcm
from random import Random

from pi_batch.statistics.amounts import quantile
from pi_batch.statistics.rates import CONFIDENCE, Interval, Tally, wilson

RESAMPLES = 5_000
SEED = 0

_Table = Mapping[int, float]
"""A value, in parts of a common denominator -> its probability."""


def bootstrap_rate(
    tallies: Sequence[Tally], *, seed: int = SEED, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> Interval:
    """Interval of the mean of the tasks' rates; every tally has a trial.

    Where all tasks came out alike nothing varies that could be drawn: then it is Wilson's, a trial a task.
    """
    scale = lcm(*(tally.trials for tally in tallies))
    table = _mixture([_resampled(tally, scale) for tally in tallies])
    if len(table) < 2:
        return wilson(round(sum(tally.rate for tally in tallies)), len(tallies), confidence)
    return _interval(table, len(tallies), scale, seed=seed, resamples=resamples, confidence=confidence)


def bootstrap_difference(
    pairs: Sequence[tuple[Tally, Tally]],
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Interval of the mean over tasks of the second's rate less the first's; every tally has a trial.

    Its width is 0 where every task shows the same difference.
    """
    scale = lcm(*(tally.trials for pair in pairs for tally in pair))
    steps = (b.passes * (scale // b.trials) - a.passes * (scale // a.trials) for a, b in pairs)
    table = _mixture([{step: 1.0} for step in steps])
    return _interval(table, len(pairs), scale, seed=seed, resamples=resamples, confidence=confidence)


def _resampled(tally: Tally, scale: int) -> _Table:
    """What a task's rate may come to when its trials are drawn again."""
    n, rate = tally.trials, tally.rate
    chances = {count: comb(n, count) * rate**count * (1 - rate) ** (n - count) for count in range(n + 1)}
    return {count * scale // n: chance for count, chance in chances.items() if chance}


def _mixture(tables: Sequence[_Table]) -> _Table:
    found: dict[int, float] = defaultdict(float)
    for table in tables:
        for value, chance in table.items():
            found[value] += chance
    return found


def _interval(
    table: _Table, tasks: int, scale: int, *, seed: int, resamples: int, confidence: float
) -> Interval:
    """Percentiles of the mean of `tasks` draws from the table."""
    values = sorted(table)
    weights = [table[value] for value in values]
    draw = Random(seed).choices  # noqa: S311 (no secret: a seed is what makes it come out alike)
    totals = sorted(sum(draw(values, weights, k=tasks)) for _ in range(resamples))
    ends = ((1 - confidence) / 2, (1 + confidence) / 2)
    low, high = (quantile(totals, end) / (scale * tasks) for end in ends)
    return Interval(low, high, "bootstrap")
