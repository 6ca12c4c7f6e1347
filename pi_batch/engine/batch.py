"""One run of `pi-batch run`: every planned task, some at a time, under one budget, with one report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct, field

from pi_batch import __version__
from pi_batch.budget import Ledger
from pi_batch.engine.legs import Work, everything, spent_by
from pi_batch.engine.remote import Remote
from pi_batch.engine.stream import Stream
from pi_batch.engine.task import run_task
from pi_batch.engine.task_parts import TaskBeginning, TaskParts, limits, task_start
from pi_batch.errors import ExecutorError, LogWriteError, PiBatchError
from pi_batch.events import BatchEnd, BatchStart, Event, TaskEnd, TaskStart, Warned
from pi_batch.expected import Expected
from pi_batch.protocols import Clock, Executor, Sink, Trial
from pi_batch.results import BatchResult, BudgetAmounts
from pi_batch.spec import Plan, PlannedTask
from pi_batch.times import iso_utc


class BatchParts(Struct, frozen=True):
    """What a batch is made of; `wiring` fills it."""

    run_id: str
    plan: Plan
    open_task: Callable[[PlannedTask], TaskParts]
    """Makes one task's parts when its turn comes. Raises: PiBatchError."""
    sinks: tuple[Sink, ...]
    write_reports: Callable[[BatchResult], None]
    """run.json and junit.xml, after every task. Raises: LogWriteError."""
    clock: Clock
    report_pause_s: Callable[[], float] = lambda: 0.0
    """How long the reports that were just written will do; they are written again then."""
    warnings: tuple[str, ...] = ()
    expected: Expected = field(default_factory=Expected)
    """How long trials are expected to take: of those that run at once the longest are begun first."""
    executor: Executor | None = None
    """Who carries trials out; None: this process does."""
    limit: BudgetAmounts | None = None
    """Over all of the run, where the plan's own budget is dealt out by somebody else."""
    work: Work | None = None
    """What earlier legs left and what this one does; None: everything, from the start."""


class Batch:
    """Runs a plan; `cancel` ends it early, with everything so far on disk."""

    def __init__(self, parts: BatchParts) -> None:
        self._parts = parts
        self._clock = parts.clock
        self._work_left = parts.work or everything(parts.plan)
        fold = self._work_left.earlier.fold
        self._stream = Stream(parts.sinks, parts.clock, self._end_early, fold)
        self._limit = parts.limit or limits(parts.plan.budget)
        self._ledger = Ledger(self._limit, parts.clock, is_suite=True)
        self._ledger.carry(self._work_left.earlier.spent)
        executor = parts.executor
        self._remote = self._make_remote(executor) if executor is not None and executor.is_remote else None
        self._groups = {name: self._group(name) for name in parts.plan.group_budgets}
        self._workers: list[asyncio.Task[None]] = []
        self.at_once: int | None = None
        """How many trials the executor takes; None: as many as the plan says."""
        self._signal_exit_code: int | None = None
        self._due: asyncio.TimerHandle | None = None
        """When reports are written that had to wait."""

    def _make_remote(self, executor: Executor) -> Remote:
        def start_of(task: PlannedTask) -> TaskStart:
            return task_start(task, self._clock, self._work_left.mode(task.planned.key) or "begin")

        return Remote(executor, self._stream, self._limit, lambda: self._ledger.seconds_left, start_of)

    def _group(self, name: str) -> Ledger:
        """The ledger of a repository's tasks, with what earlier legs spent on them."""
        plan, earlier = self._parts.plan, self._work_left.earlier.tasks
        limit = limits(plan.group_budgets[name])
        ledger = Ledger(limit, self._clock, self._ledger, is_suite=True, owner="the repository")
        keys = [task.planned.key for task in plan.tasks if task.group == name]
        left = [earlier[key] for key in keys if key in earlier]
        ledger.carry(spent_by([one.result for one in left], sum(one.wall_s for one in left)))
        return ledger

    def cancel(self, signal_exit_code: int) -> None:
        """End every running task now; reports and partial patches are still written."""
        self._signal_exit_code = signal_exit_code
        self._end_early()

    def warn(self, key: str, text: str) -> None:
        """Say something about a task from outside the engine."""
        self._stream.emit(key, Warned(text))

    def _end_early(self) -> None:
        for worker in self._workers:
            worker.cancel()

    async def run(self) -> BatchResult:
        """Run everything; the result as it stands in run.json. Raises: LogWriteError."""
        started_s = self._clock.monotonic()
        started_at = iso_utc(self._clock.time())
        planned = tuple(task.planned for task in self._parts.plan.tasks)
        leg = self._stream.fold.legs + 1
        self._emit(BatchStart(self._parts.run_id, started_at, __version__, planned, self._limit, leg))
        for text in self._parts.warnings:
            self._emit(Warned(text))
        self._write_reports()
        self._ledger.start_time()
        if self._stream.failure is None:
            await self._run_all()
        is_whole = self._signal_exit_code is None and self._stream.failure is None
        status: Literal["complete", "interrupted"] = "complete" if is_whole else "interrupted"
        duration_s = round(self._clock.monotonic() - started_s, 3)
        self._emit(BatchEnd(status, duration_s, self._signal_exit_code))
        self._write_reports_now()
        self._stream.close()
        if self._stream.failure is not None:
            raise self._stream.failure
        return self._stream.fold.result()

    async def _run_all(self) -> None:
        tasks = [task for task in self._parts.plan.tasks if self._work_left.mode(task.planned.key)]
        count = max(1, min(self.at_once or self._parts.plan.max_parallel, len(tasks)))
        if self._remote is not None:
            self._remote.at_once = count
        queue = iter(tasks if count == 1 else self._parts.expected.longest_first(tasks))
        self._workers = [asyncio.create_task(self._work(queue)) for _ in range(count)]
        done = await asyncio.gather(*self._workers, return_exceptions=True)
        for outcome in done:
            if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
                raise outcome

    async def _work(self, queue: Iterator[PlannedTask]) -> None:
        """Take tasks off the queue until it is empty."""
        for task in queue:
            reason = self._starved(task) if self._remote is None else None
            if reason is not None and self._work_left.mode(task.planned.key) == "begin":
                self._skip(task, reason)
                self._write_reports()
                continue
            try:
                await (self._run_one(task) if self._remote is None else self._remote.run(task))
            except ExecutorError as error:
                self._fail(error)
                return
            finally:
                self._write_reports()

    def _starved(self, task: PlannedTask) -> str | None:
        """Why a task cannot begin any more, or None."""
        limit = self._shared(task).exhausted_by()
        return None if limit is None else f"not started: {limit} is used up"

    def _shared(self, task: PlannedTask) -> Ledger:
        """What a task shares with others: its repository's ledger, within the suite's."""
        return self._groups.get(task.group, self._ledger)

    async def _run_one(self, task: PlannedTask) -> None:
        key = task.planned.key

        def emit(event: Event) -> None:
            self._stream.emit(key, event)

        work = self._work_left
        left = work.earlier.tasks.get(key)
        beginning = TaskBeginning(work.mode(key) or "begin", left, is_changed=work.is_changed)
        shared = self._shared(task)
        shared.start_time()

        async def run_here() -> None:
            await run_task(task, self._parts.open_task, shared, emit, self._clock, beginning=beginning)

        if self._parts.executor is None:
            await run_here()
        else:
            await self._parts.executor.run(Trial(key, self._limit, run_here, self._stream.join))

    def _skip(self, task: PlannedTask, reason: str) -> None:
        key = task.planned.key
        self._stream.emit(key, task_start(task, self._clock))
        self._stream.emit(key, _starved_end(reason))

    def _emit(self, event: Event) -> None:
        self._stream.emit(None, event)

    def _write_reports(self) -> None:
        """Rewrite the reports, a little later where they have only just been written."""
        if self._due is not None:
            return
        pause_s = self._parts.report_pause_s()
        if pause_s > 0:
            self._due = asyncio.get_running_loop().call_later(pause_s, self._write_reports_now)
        else:
            self._write_reports_now()

    def _write_reports_now(self) -> None:
        """Rewrite the reports; one that cannot be written ends the run as a log would."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        try:
            self._parts.write_reports(self._stream.fold.result())
        except LogWriteError as error:
            self._fail(error)

    def _fail(self, error: PiBatchError) -> None:
        """End the run: the first of such errors is raised when what there is has been written."""
        if self._stream.failure is None:
            self._stream.failure = error
            self._end_early()


def _starved_end(reason: str) -> TaskEnd:
    """The end of a task that had no budget to begin with."""
    return TaskEnd(0.0, 0.0, BudgetAmounts(), skip_reason=reason, skipped_by="budget", is_starved=True)
