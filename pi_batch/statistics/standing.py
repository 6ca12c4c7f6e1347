"""A leaderboard as values: each model's rates, what it took, and which models it can be told apart from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean, median
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.statistics.amounts import Spread, spread
from pi_batch.statistics.pareto import Offer, frontier
from pi_batch.statistics.power import expected_deviation, paired_deviation, smallest_difference
from pi_batch.statistics.rates import Interval, Tally, pass_at_k, pass_hat_k
from pi_batch.statistics.resampling import SEED
from pi_batch.statistics.scores import (
    difference_of,
    digests_of,
    mean_rate,
    rate_interval,
    scored_tallies,
    shared,
)
from pi_batch.statistics.significance import holm, sign_flip
from pi_batch.statistics.trials import Entrant, State, TaskKey, Trial, tally, tally_of_all, task_labels

EACH_K_UP_TO = 10
UNSCORED: frozenset[State] = frozenset({"error", "missing"})
"""What leaves the first denominator and not the second."""


class ByK(Struct, frozen=True):
    """pass@k or pass^k over tasks."""

    k: int
    value: float | None
    """Mean over tasks with at least k scored trials; None where there is none."""
    tasks: int
    """How many those are."""


class Standing(Struct, frozen=True):
    """One model's line."""

    name: str
    model: str
    run: str
    tasks: int
    """With a scored trial."""
    counts: Mapping[State, int]
    """Trials by what came of them; they add up to those planned."""
    repeats: tuple[int, int]
    """Fewest and most scored trials of a task."""
    rate: float | None
    """Mean over tasks of the part of scored trials that passed; None without one."""
    interval: Interval
    """Of `rate`."""
    rate_of_all: float | None
    """The same over all trials that should have been, errors and missing ones as not passed."""
    pass_at_k: tuple[ByK, ...]
    pass_hat_k: tuple[ByK, ...]
    cost_usd: Spread
    tokens: Spread
    turns: Spread
    working_s: Spread
    is_on_frontier: bool
    """Whether no other model is as good for less, or better for the same."""


class Pair(Struct, frozen=True):
    """Two models on the tasks that both have scored trials of."""

    first: str
    second: str
    tasks: int
    difference: float | None
    """The second's rate less the first's."""
    p: float | None
    p_holm: float | None
    """After all comparisons of the board."""


class GridRow(Struct, frozen=True):
    """A task, and what each model made of it."""

    task: str
    tags: tuple[str, ...]
    cells: tuple[Tally | None, ...]
    """Scored trials in the order of the standings; None: not in that model's run."""


class Leaderboard(Struct, frozen=True):
    """All models of one or several runs, the best first."""

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    grid: tuple[GridRow, ...]
    smallest_difference: float | None
    """Of two rates that this many tasks would find with 80 % power."""
    warnings: tuple[str, ...]
    seed: int
    schema_version: int = 1


def leaderboard(entrants: Sequence[Entrant], seed: int = SEED) -> Leaderboard:
    """Every number that a board shows."""
    standings = _with_frontier(sorted((_standing(one, seed) for one in entrants), key=_rank))
    by_name = {one.name: one for one in entrants}
    ranked = [by_name[one.name] for one in standings]
    return Leaderboard(
        standings,
        _pairs(ranked, seed),
        tuple(_grid(ranked)),
        _smallest(ranked),
        tuple(_warnings(ranked)),
        seed,
    )


def _standing(entrant: Entrant, seed: int) -> Standing:
    by_task = entrant.by_task()
    tallies = list(scored_tallies(entrant).values())
    trials = [one.trials for one in tallies]
    solved = sum(trial.state == "passed" for trial in entrant.trials)
    due = [one for each in by_task.values() if (one := tally_of_all(each)).trials]
    return Standing(
        name=entrant.name,
        model=entrant.model,
        run=entrant.run,
        tasks=len(tallies),
        counts=_counts(entrant.trials),
        repeats=(min(trials, default=0), max(trials, default=0)),
        rate=mean_rate(tallies),
        interval=rate_interval(tallies, seed),
        rate_of_all=mean_rate(due),
        pass_at_k=tuple(_by_k(tallies, pass_at_k)),
        pass_hat_k=tuple(_by_k(tallies, pass_hat_k)),
        cost_usd=_spread(entrant.trials, lambda trial: trial.cost_usd, solved),
        tokens=_spread(entrant.trials, lambda trial: trial.tokens, solved),
        turns=_spread(entrant.trials, lambda trial: trial.turns, solved),
        working_s=_spread(entrant.trials, lambda trial: trial.working_s, solved),
        is_on_frontier=False,
    )


def _spread(trials: Sequence[Trial], amount: Callable[[Trial], float | None], solved: int) -> Spread:
    """Mean, median and p90 over scored trials; the total over all that ran."""
    return spread(
        [amount(trial) for trial in trials if trial.is_scored],
        [amount(trial) for trial in trials if trial.has_run and not trial.is_scored],
        solved,
    )


def _counts(trials: Sequence[Trial]) -> Mapping[State, int]:
    states = [trial.state for trial in trials]
    return {state: states.count(state) for state in get_args(State)}


def _by_k(tallies: Sequence[Tally], estimate: Callable[[Tally, int], float | None]) -> Iterator[ByK]:
    """For each k up to ten, and the most trials that a task has."""
    most = max((one.trials for one in tallies), default=0)
    for k in sorted({*range(1, min(most, EACH_K_UP_TO) + 1), *([most] if most else [])}):
        values = [value for one in tallies if (value := estimate(one, k)) is not None]
        yield ByK(k, fmean(values) if values else None, len(values))


def _rank(standing: Standing) -> tuple[float, float, str]:
    """The best rate first, the cheaper of two equal ones; without a scored trial last."""
    rate = standing.rate if standing.rate is not None else -1.0
    cost = standing.cost_usd.mean
    return -rate, cost if cost is not None else float("inf"), standing.name


def _with_frontier(standings: Sequence[Standing]) -> tuple[Standing, ...]:
    """Marked where nobody is as good for less; a model with an unknown cost is never marked."""
    offers = [
        Offer(one.name, one.cost_usd.mean, one.rate)
        for one in standings
        if one.rate is not None and one.cost_usd.mean is not None and not one.cost_usd.unknown
    ]
    best = {offer.name for offer in frontier(offers)}
    return tuple(replace(one, is_on_frontier=one.name in best) for one in standings)


def _pairs(entrants: Sequence[Entrant], seed: int) -> tuple[Pair, ...]:
    """Every two models by the sign-flip test, p values after all of these comparisons."""
    made = []
    for a, b in combinations(entrants, 2):
        pairs = list(shared(a, b).values())
        steps = difference_of(pairs)
        p = sign_flip(steps, seed=seed).p if pairs else None
        made.append(Pair(a.name, b.name, len(pairs), float(fmean(steps)) if pairs else None, p, None))
    tested = [pair for pair in made if pair.p is not None]
    adjusted = dict(zip(map(id, tested), holm([pair.p or 0.0 for pair in tested]), strict=True))
    return tuple(replace(pair, p_holm=adjusted.get(id(pair))) for pair in made)


def _grid(entrants: Sequence[Entrant]) -> Iterator[GridRow]:
    by_task = [one.by_task() for one in entrants]
    tasks = list(dict.fromkeys(task for each in by_task for task in each))
    labels = task_labels(tasks)
    for task in sorted(tasks, key=lambda one: labels[one]):
        found = [each.get(task) for each in by_task]
        tags = next(trials[0].tags for trials in found if trials)
        yield GridRow(labels[task], tags, tuple(tally(one) if one else None for one in found))


def _smallest(entrants: Sequence[Entrant]) -> float | None:
    """By how far models of this board are apart from task to task; of one alone by the worst case."""
    tallies = [list(scored_tallies(one).values()) for one in entrants]
    tasks = max((len(each) for each in tallies), default=0)
    repeats = min((one.trials for each in tallies for one in each), default=1)
    pairs = [list(shared(a, b).values()) for a, b in combinations(entrants, 2)]
    seen = [paired_deviation(each) for each in pairs if len(each) > 1]
    if not tasks:
        return None
    fullest = max(tallies, key=len)
    deviation = median(seen) if seen else expected_deviation(fullest)
    return smallest_difference(deviation, tasks, repeats)


def _warnings(entrants: Sequence[Entrant]) -> Iterator[str]:
    """What makes numbers of this board less alike than they look."""
    digests: dict[TaskKey, set[str]] = {}
    for entrant in entrants:
        for task, found in digests_of(entrant).items():
            digests.setdefault(task, set()).update(found)
    labels = task_labels(digests)
    for task, different in digests.items():
        if len(different) > 1:
            yield f"{labels[task]}: not the same task in all runs ({len(different)} digests), not compared"
    unscored = {
        one.name: away for one in entrants if (away := sum(trial.state in UNSCORED for trial in one.trials))
    }
    trials = sum(len(one.trials) for one in entrants)
    yield from _listed(unscored, f"of {trials:,} trials are not scored (error or missing)")
    lacking = {one.name: less for one in entrants if (less := len(digests) - len(one.by_task()))}
    yield from _listed(lacking, f"times a task of {len(digests):,} was not in a model's run")


def _listed(counts: Mapping[str, int], what: str) -> Iterator[str]:
    """One line for all: a number, what it counts, and whose it is."""
    if counts:
        each = ", ".join(f"{name} {number:,}" for name, number in counts.items())
        yield f"{sum(counts.values()):,} {what}: {each}"
