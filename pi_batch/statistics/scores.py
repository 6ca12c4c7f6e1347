"""What trials come to by task: tallies, their mean, the interval around it, the tasks two models share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import fmean

from pi_batch.statistics.rates import Interval, Tally, wilson
from pi_batch.statistics.resampling import bootstrap_rate
from pi_batch.statistics.trials import Entrant, TaskKey, tally


def scored_tallies(entrant: Entrant) -> dict[TaskKey, Tally]:
    """Passes by task, tasks without a scored trial left out."""
    tallies = {task: tally(trials) for task, trials in entrant.by_task().items()}
    return {task: one for task, one in tallies.items() if one.trials}


def mean_rate(tallies: Sequence[Tally]) -> float | None:
    """Mean of the tasks' rates: each task counts the same, however often it was tried."""
    return fmean(one.rate for one in tallies) if tallies else None


def rate_interval(tallies: Sequence[Tally], seed: int) -> Interval:
    """Wilson's where each task was tried once (or there is none), else by the two-level bootstrap."""
    if all(one.trials == 1 for one in tallies):
        return wilson(sum(one.passes for one in tallies), len(tallies))
    return bootstrap_rate(tallies, seed=seed)


def shared(a: Entrant, b: Entrant) -> dict[TaskKey, tuple[Tally, Tally]]:
    """Tasks of the same content with scored trials on both sides."""
    first, second = scored_tallies(a), scored_tallies(b)
    digests_a, digests_b = digests_of(a), digests_of(b)
    return {
        task: (first[task], second[task])
        for task in first
        if task in second and digests_a[task] == digests_b[task]
    }


def digests_of(entrant: Entrant) -> dict[TaskKey, frozenset[str]]:
    """What each task was."""
    return {task: frozenset(one.digest for one in trials) for task, trials in entrant.by_task().items()}


def difference_of(pairs: Sequence[tuple[Tally, Tally]]) -> tuple[Fraction, ...]:
    """For each task the second's rate less the first's, exactly."""
    return tuple(Fraction(b.passes, b.trials) - Fraction(a.passes, a.trials) for a, b in pairs)
