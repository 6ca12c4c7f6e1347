"""A run's results as trials: which task, which model, what came of it, and whether that is the model's.

A trial is scored when its outcome is the model's: passed or failed. An error is a service, a sandbox or a
harness that broke, and a trial that was planned and is not there says nothing either; neither leaves
silently: rates are given over the scored trials and over all that should have been.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.consequences import SCORED
from pi_batch.results import BatchResult, PlannedResult, RunResult
from pi_batch.statistics.rates import Tally

State = Literal["passed", "failed", "error", "missing", "skipped"]
"""`skipped` is a precheck that found nothing to do; what a suite's budget kept from starting is `missing`."""


class TaskKey(Struct, frozen=True):
    """What is the same task in every run: an id and the values of its inputs."""

    id: str
    inputs: str = "{}"
    """JSON, keys sorted."""


class Trial(Struct, frozen=True):
    """One attempt of a model at a task."""

    task: TaskKey
    digest: str
    """sha256 of what the task was: trials of different ones are not compared."""
    repeat: int
    state: State
    cost_usd: float | None = None
    tokens: float | None = None
    turns: float | None = None
    working_s: float | None = None
    tags: tuple[str, ...] = ()

    @property
    def is_scored(self) -> bool:
        """Whether it says something of the model."""
        return self.state in SCORED

    @property
    def has_run(self) -> bool:
        """Whether it took anything."""
        return self.state not in ("missing", "skipped")


class Entrant(Struct, frozen=True):
    """A model with its trials of one run."""

    name: str
    model: str
    run: str
    """As the user named it."""
    trials: tuple[Trial, ...]

    def by_task(self) -> dict[TaskKey, tuple[Trial, ...]]:
        """Trials by task, tasks in the order of the run."""
        found: dict[TaskKey, tuple[Trial, ...]] = {}
        for trial in self.trials:
            found[trial.task] = (*found.get(trial.task, ()), trial)
        return found


def entrants_of(batch: BatchResult, run: str) -> tuple[Entrant, ...]:
    """The models of a run in the order of its plan; planned results that are not there are trials too."""
    results = {result.key: result for result in batch.results}
    planned = {one.key for one in batch.planned}
    trials: dict[str, list[Trial]] = {}
    for one in batch.planned:
        result = results.get(one.key)
        trials.setdefault(one.model, []).append(trial_of(result) if result else _missing(one))
    for result in batch.results:
        if result.key not in planned:
            trials.setdefault(result.model, []).append(trial_of(result))
    return tuple(Entrant(model, model, run, tuple(each)) for model, each in trials.items())


def trial_of(result: RunResult) -> Trial:
    """A result as a trial."""
    is_starved = result.outcome == "skipped" and result.started_at is None
    return Trial(
        task=_task(result.task_id, result.inputs),
        digest=result.digest or result.spec_sha256,
        repeat=result.repeat,
        state="missing" if is_starved else result.outcome,
        cost_usd=result.total_cost_usd,
        tokens=result.usage.total_tokens,
        turns=result.num_turns,
        working_s=result.working_s,
        tags=result.tags,
    )


def tally(trials: Iterable[Trial]) -> Tally:
    """Passes among scored trials."""
    scored = [trial.state == "passed" for trial in trials if trial.is_scored]
    return Tally(sum(scored), len(scored))


def tally_of_all(trials: Iterable[Trial]) -> Tally:
    """Passes among all trials that should have been: an error or a missing one counts as not passed."""
    due = [trial.state == "passed" for trial in trials if trial.state != "skipped"]
    return Tally(sum(due), len(due))


def task_labels(tasks: Iterable[TaskKey]) -> dict[TaskKey, str]:
    """A short name for each task: its id, with its inputs only where the id alone is not enough."""
    every = list(dict.fromkeys(tasks))
    ids = [task.id for task in every]
    return {task: task.id if ids.count(task.id) == 1 else f"{task.id} {task.inputs}" for task in every}


def with_names(entrants: Sequence[Entrant]) -> tuple[Entrant, ...]:
    """Names that tell entrants apart: the model, with the run in front where models are the same.

    A number tells apart what is the same in both.
    """
    models = [one.model for one in entrants]
    names = [one.model if models.count(one.model) == 1 else f"{one.run}:{one.model}" for one in entrants]
    seen = [names[:index].count(name) for index, name in enumerate(names)]
    return tuple(
        replace(one, name=name if not earlier else f"{name} #{earlier + 1}")
        for one, name, earlier in zip(entrants, names, seen, strict=True)
    )


def _missing(planned: PlannedResult) -> Trial:
    task = _task(planned.task_id, planned.inputs)
    return Trial(task, planned.digest or planned.spec_sha256, planned.repeat, "missing", tags=planned.tags)


def _task(task_id: str, inputs: Mapping[str, Any]) -> TaskKey:
    return TaskKey(task_id, json.dumps(dict(inputs), sort_keys=True, ensure_ascii=False, default=str))
