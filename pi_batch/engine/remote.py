"""Trials that are carried out elsewhere: each has its part of the budget, its records join the stream."""

from __future__ import annotations

from collections.abc import Callable

from pi_batch.engine.grants import Grants, NoRoom
from pi_batch.engine.stream import Stream
from pi_batch.engine.task_parts import limits
from pi_batch.events import Record, TaskEnd, TaskStart, Warned
from pi_batch.protocols import Executor, Trial
from pi_batch.results import BudgetAmounts, RunError
from pi_batch.spec import PlannedTask


class Remote:
    """Hands a run's trials to an executor."""

    def __init__(
        self,
        executor: Executor,
        stream: Stream,
        limit: BudgetAmounts,
        seconds_left: Callable[[], float],
        start_of: Callable[[PlannedTask], TaskStart],
    ) -> None:
        self._executor = executor
        self._stream = stream
        self._grants = Grants(limit, lambda: stream.fold.result().results, seconds_left)
        self._start_of = start_of
        self._running = 0
        self.at_once = 1

    async def run(self, task: PlannedTask) -> None:
        """Carry one out; one that comes to no end has ended with an error. Raises: ExecutorError."""
        key = task.planned.key
        try:
            limit = await self._grants.take(key, limits(task.spec.budget), self.at_once - self._running)
        except NoRoom as error:
            reason = f"not started: the suite's budget.{error.dimension} is used up"
            self._end(task, TaskEnd(0.0, 0.0, BudgetAmounts(), skip_reason=reason, is_starved=True))
            return
        self._running += 1
        last: list[Record] = []

        def take(record: Record) -> None:
            if isinstance(record.event, TaskStart | TaskEnd):
                last[:] = [record]
            if record.key is not None:
                self._stream.join(record)
            elif isinstance(record.event, Warned) and record.event.message not in self._said():
                self._stream.emit(None, record.event)

        try:
            reason = await self._executor.run(Trial(key, limit, _nowhere, take))
            if not self._is_ended(key, last):
                text = f"the trial came to no end: {reason or 'its process ended'}"
                self._end(task, TaskEnd(0.0, 0.0, BudgetAmounts(), error=RunError("internal", text)))
        finally:
            self._running -= 1
            self._grants.give_back(key)

    def _is_ended(self, key: str, last: list[Record]) -> bool:
        """True when the trial ended now, or had ended and there was nothing left to do."""
        if last:
            return isinstance(last[0].event, TaskEnd)
        return self._stream.fold.has_ended(key)

    def _said(self) -> tuple[str, ...]:
        """What the run was warned of: every trial says it again."""
        return self._stream.fold.warnings

    def _end(self, task: PlannedTask, end: TaskEnd) -> None:
        key = task.planned.key
        if self._stream.fold.has_ended(key) or self._stream.fold.task_result(key) is None:
            self._stream.emit(key, self._start_of(task))
        self._stream.emit(key, end)


async def _nowhere() -> None:
    raise AssertionError("a trial that is carried out elsewhere is not carried out here")
