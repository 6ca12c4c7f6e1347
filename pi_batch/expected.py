"""How long trials are expected to take: who is begun first, and which shard gets what.

What earlier runs took counts; where nothing is recorded, a task's own limit of time does. So what nobody
knows is taken for long and is begun early. All of it is pure and comes out alike on every machine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct, field

from pi_batch.spec import PlannedTask

UNLIMITED_S: Final = 24 * 3600.0
"""Stands for a task without a limit of time and without a record."""


class Took(NamedTuple):
    """What one trial of an earlier run took."""

    task_id: str
    model: str
    working_s: float


class Expected(Struct, frozen=True):
    """Means of what was recorded: by task and model, and by task alone."""

    by_model: Mapping[tuple[str, str], float] = field(default_factory=dict)
    by_task: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, recorded: Iterable[Took]) -> Expected:
        """The means of these trials."""
        by_model: dict[tuple[str, str], list[float]] = defaultdict(list)
        by_task: dict[str, list[float]] = defaultdict(list)
        for took in recorded:
            by_model[took.task_id, took.model].append(took.working_s)
            by_task[took.task_id].append(took.working_s)
        return cls(
            {key: sum(each) / len(each) for key, each in by_model.items()},
            {key: sum(each) / len(each) for key, each in by_task.items()},
        )

    def seconds(self, task: PlannedTask) -> float:
        """What one trial is expected to take."""
        planned, limit_s = task.planned, task.spec.budget.wall_s
        known = self.by_model.get((planned.task_id, planned.model), self.by_task.get(planned.task_id))
        if known is not None:
            return known
        return UNLIMITED_S if limit_s is None else limit_s

    def longest_first(self, tasks: Sequence[PlannedTask]) -> list[PlannedTask]:
        """The longest first; of equal ones, the plan's order."""
        return sorted(tasks, key=self.seconds, reverse=True)


def shards(costs: Sequence[float], count: int) -> list[int]:
    """For each of several costs its shard, from 1 to `count`, so that the shards come out about alike.

    The dearest goes first, each to the shard that has least so far; of equal shards, to the first.
    """
    load, sizes = [0.0] * count, [0] * count
    chosen = [0] * len(costs)
    for index in sorted(range(len(costs)), key=lambda one: -costs[one]):
        shard = min(range(count), key=lambda one: (load[one], sizes[one], one))
        load[shard] += costs[index]
        sizes[shard] += 1
        chosen[index] = shard + 1
    return chosen
