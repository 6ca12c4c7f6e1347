"""Trials and entrants, written down briefly."""

from __future__ import annotations

from collections.abc import Mapping

from pi_batch.statistics.trials import Entrant, State, TaskKey, Trial

STATES: Mapping[str, State] = {
    "+": "passed",
    "-": "failed",
    "e": "error",
    "m": "missing",
    "s": "skipped",
}


def trial(
    task: str = "t",
    state: State = "passed",
    *,
    repeat: int = 1,
    cost: float | None = 1.0,
    digest: str = "d",
    tokens: float = 100,
) -> Trial:
    """One trial."""
    return Trial(TaskKey(task), digest, repeat, state, cost, tokens, 3, 2.5)


def entrant(name: str, tasks: Mapping[str, str], *, cost: float | None = 1.0, digest: str = "d") -> Entrant:
    """A model by its tasks: `{"parse": "++-"}` is a task with two passed trials and a failed one."""
    trials = [
        trial(task, STATES[sign], repeat=number, cost=cost, digest=digest)
        for task, signs in tasks.items()
        for number, sign in enumerate(signs, start=1)
    ]
    return Entrant(name, name, "run", tuple(trials))


def single(name: str, signs: str, *, cost: float | None = 1.0) -> Entrant:
    """A model with one trial of each of as many tasks as there are signs."""
    return entrant(name, {f"t{number:03}": sign for number, sign in enumerate(signs)}, cost=cost)
