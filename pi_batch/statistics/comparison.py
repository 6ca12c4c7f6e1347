"""Is B worse than A? Pairs by task, an exact test, an interval, and one word.

    REGRESSION    worse by more than the margin: the interval ends below it, and the test says no chance
    MISSING       a task of A has no scored trial of the same content on both sides
    PASS          not worse by more than the margin: the interval begins at it or above
    INCONCLUSIVE  the interval holds both

The first that applies. Several comparisons: p values after Holm, and the first word in this order of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.statistics.amounts import Spread, spread
from pi_batch.statistics.power import ALPHA, paired_deviation, smallest_difference
from pi_batch.statistics.rates import Interval, Tally
from pi_batch.statistics.resampling import SEED, bootstrap_difference
from pi_batch.statistics.scores import difference_of, digests_of, scored_tallies, shared
from pi_batch.statistics.significance import TestName, holm, mcnemar_exact, sign_flip
from pi_batch.statistics.trials import Entrant, TaskKey, task_labels

Word = Literal["PASS", "REGRESSION", "INCONCLUSIVE", "MISSING"]

ORDER: tuple[Word, ...] = ("REGRESSION", "MISSING", "INCONCLUSIVE", "PASS")
"""What one comparison of several decides for all."""

TINY = 1e-12
"""Of a rate: what rounding may do to a bound."""


class Flip(Struct, frozen=True):
    """A task that came out otherwise."""

    task: str
    a: Tally
    b: Tally
    is_better: bool
    """True where B passed more of its trials."""


class Unpaired(Struct, frozen=True):
    """A task that cannot be compared."""

    task: str
    reason: str
    is_new: bool = False
    """True where A has never heard of it: then nothing is missing."""


class Amounts(Struct, frozen=True):
    """What the trials of the paired tasks took."""

    cost_usd: Spread
    tokens: Spread
    turns: Spread
    working_s: Spread


class Comparison(Struct, frozen=True):
    """One model or run against the baseline, over the tasks that both have scored trials of."""

    baseline: str
    candidate: str
    word: Word
    reason: str
    """One line."""
    tasks: int
    """Paired."""
    rate_a: float | None
    rate_b: float | None
    difference: float | None
    """B less A: below 0 is worse."""
    interval: Interval | None
    """Of the difference, 95 %."""
    test: TestName | None
    p: float | None
    p_holm: float | None
    """After all comparisons made at once."""
    smallest_difference: float | None
    """That so many tasks would find with 80 % power."""
    flips: tuple[Flip, ...]
    """The worst first."""
    unpaired: tuple[Unpaired, ...]
    amounts_a: Amounts
    amounts_b: Amounts


class Comparisons(Struct, frozen=True):
    """Everything that `pi-batch compare` found."""

    word: Word
    margin: float
    alpha: float
    seed: int
    comparisons: tuple[Comparison, ...]
    schema_version: int = 1


def compare(
    pairs: Sequence[tuple[Entrant, Entrant]], *, margin: float = 0.0, alpha: float = ALPHA, seed: int = SEED
) -> Comparisons:
    """Compare each second with its first, the baseline; there is at least one pair."""
    raw = [_measure(a, b, seed) for a, b in pairs]
    tested = [index for index, one in enumerate(raw) if one.p is not None]
    adjusted = dict(zip(tested, holm([raw[index].p or 0.0 for index in tested]), strict=True))
    made = tuple(
        _judged(replace(one, p_holm=adjusted.get(index)), margin, alpha) for index, one in enumerate(raw)
    )
    word = next(word for word in ORDER if any(one.word == word for one in made))
    return Comparisons(word, margin, alpha, seed, made)


def _measure(a: Entrant, b: Entrant, seed: int) -> Comparison:
    """All but the word."""
    by_task = shared(a, b)
    pairs = list(by_task.values())
    steps = difference_of(pairs)
    name, p = _test(pairs, seed)
    labels = task_labels([*a.by_task(), *b.by_task()])
    repeats = min((one.trials for pair in pairs for one in pair), default=1)
    return Comparison(
        baseline=a.name,
        candidate=b.name,
        word="MISSING",
        reason="",
        tasks=len(pairs),
        rate_a=fmean(one.rate for one, _ in pairs) if pairs else None,
        rate_b=fmean(one.rate for _, one in pairs) if pairs else None,
        difference=float(sum(steps) / len(steps)) if pairs else None,
        interval=bootstrap_difference(pairs, seed=seed) if pairs else None,
        test=name,
        p=p,
        p_holm=None,
        smallest_difference=smallest_difference(paired_deviation(pairs), len(pairs), repeats),
        flips=_flips(by_task, labels),
        unpaired=tuple(_unpaired(a, b, by_task, labels)),
        amounts_a=_amounts(a, by_task),
        amounts_b=_amounts(b, by_task),
    )


def _test(pairs: Sequence[tuple[Tally, Tally]], seed: int) -> tuple[TestName | None, float | None]:
    """McNemar's where each task was tried once on each side, else the sign-flip test."""
    if not pairs:
        return None, None
    if all(one.trials == 1 for pair in pairs for one in pair):
        worse = sum(a.passes > b.passes for a, b in pairs)
        better = sum(b.passes > a.passes for a, b in pairs)
        return "mcnemar exact", mcnemar_exact(worse, better)
    result = sign_flip(difference_of(pairs), seed=seed)
    return result.name, result.p


def _judged(one: Comparison, margin: float, alpha: float) -> Comparison:
    """With its word and the reason."""
    if one.interval is None or one.p_holm is None or one.difference is None:
        return replace(
            one, word="MISSING", reason="no task has a scored trial of the same content on both sides"
        )
    low, high = one.interval.low, one.interval.high
    if high < -margin - TINY and one.p_holm <= alpha:
        bounds = f"[{_points(-high)}, {_points(-low)}]"
        reason = f"worse by {_points(-one.difference)} points {bounds}, p {one.p_holm:.3g}"
        return replace(one, word="REGRESSION", reason=reason)
    missing = sum(not task.is_new for task in one.unpaired)
    if missing:
        noun = "task has" if missing == 1 else "tasks have"
        reason = f"{missing} {noun} no scored trial of the same content on one side"
        return replace(one, word="MISSING", reason=reason)
    if low >= -margin - TINY:
        reason = f"not worse by more than {_points(margin)} points" if margin else "not worse"
        return replace(one, word="PASS", reason=reason)
    if high < -margin - TINY:
        reason = f"worse by {_points(-one.difference)} points, which may be chance: p {one.p_holm:.3g}"
    else:
        reason = (
            f"the difference lies between {_points(low)} and {_points(high)} points, "
            f"on both sides of the {_points(-margin)} allowed"
        )
    return replace(one, word="INCONCLUSIVE", reason=reason)


def _points(difference: float) -> str:
    text = f"{100 * difference:.1f}"
    return "0.0" if text == "-0.0" else text


def _flips(by_task: Mapping[TaskKey, tuple[Tally, Tally]], labels: Mapping[TaskKey, str]) -> tuple[Flip, ...]:
    found = [
        Flip(labels[task], a, b, is_better=b.rate > a.rate)
        for task, (a, b) in by_task.items()
        if a.rate != b.rate
    ]
    return tuple(sorted(found, key=lambda flip: (flip.b.rate - flip.a.rate, flip.task)))


def _unpaired(
    a: Entrant, b: Entrant, paired: Mapping[TaskKey, object], labels: Mapping[TaskKey, str]
) -> Iterator[Unpaired]:
    """Why tasks cannot be compared; a task that there was nothing to do for is none."""
    first, second = a.by_task(), b.by_task()
    scored_a, scored_b = scored_tallies(a), scored_tallies(b)
    digests_a, digests_b = digests_of(a), digests_of(b)
    for task in dict.fromkeys([*first, *second]):
        trials = (*first.get(task, ()), *second.get(task, ()))
        if task in paired or all(trial.state == "skipped" for trial in trials):
            continue
        lacking = [
            f"not in {name}" if task not in every else f"no scored trial in {name}"
            for name, every, scored in ((a.name, first, scored_a), (b.name, second, scored_b))
            if task not in scored
        ]
        changed = task in first and task in second and digests_a[task] != digests_b[task]
        reasons = [*lacking, *(["the task has changed (another digest)"] if changed else [])]
        yield Unpaired(labels[task], "; ".join(reasons), is_new=task not in first)


def _amounts(entrant: Entrant, paired: Mapping[TaskKey, object]) -> Amounts:
    trials = [trial for trial in entrant.trials if trial.task in paired]
    scored = [trial for trial in trials if trial.is_scored]
    rest = [trial for trial in trials if trial.has_run and not trial.is_scored]
    solved = sum(trial.state == "passed" for trial in trials)
    return Amounts(
        spread([one.cost_usd for one in scored], [one.cost_usd for one in rest], solved),
        spread([one.tokens for one in scored], [one.tokens for one in rest], solved),
        spread([one.turns for one in scored], [one.turns for one in rest], solved),
        spread([one.working_s for one in scored], [one.working_s for one in rest], solved),
    )
