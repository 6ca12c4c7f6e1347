"""Events in, results out: the only place where a run's results are computed.

`Fold` takes records one by one, live or read back from events.jsonl, and has a whole `BatchResult` ready
at any time: `fold(live) == fold(replayed log)`. Live-only events change nothing. A log that ends early
makes an `error` of every task that had started and not ended, and leaves the rest of the plan missing.
A record whose sequence number has been seen is a duplicate and is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable

from pi_batch.events import (
    BatchEnd,
    BatchStart,
    MessageUpdate,
    Record,
    ToolExecutionUpdate,
    UnknownEvent,
    Warned,
)
from pi_batch.outcome import exit_code, total
from pi_batch.results import SCHEMA_VERSION, BatchResult, BatchStatus, PlannedResult, RunResult
from pi_batch.task_fold import TaskEvent, TaskFold, seconds_between


class Fold:
    """A run's results, kept up to date as records come in."""

    def __init__(self) -> None:
        self._start: BatchStart | None = None
        self._end: BatchEnd | None = None
        self._planned: dict[str, PlannedResult] = {}
        self._tasks: dict[str, TaskFold] = {}
        self._results: dict[str, RunResult] = {}
        """Made once per change of a task, so that a report after every task stays cheap."""
        self._warnings: list[str] = []
        self._last_seq = 0
        self._last_at = ""

    def feed(self, record: Record) -> None:
        """Take one record; duplicates, live-only and unknown events change nothing."""
        if record.seq is not None:
            if record.seq <= self._last_seq:
                return
            self._last_seq = record.seq
        event = record.event
        match event:
            case MessageUpdate() | ToolExecutionUpdate() | UnknownEvent():
                return
            case BatchStart():
                self._begin(event)
            case BatchEnd():
                self._end = event
                self._results.clear()
            case Warned() if record.key is None:
                self._warnings.append(event.message)
            case _:
                self._feed_task(record.key, record.at, event)
        self._last_at = record.at

    def result(self) -> BatchResult:
        """Everything known so far; costs O(tasks)."""
        results = tuple(self._result(key) for key in self._ordered_keys())
        end = self._end
        status: BatchStatus = end.status if end is not None else "running"
        started_at = self._start.started_at if self._start else ""
        totals = total(results, planned=len(self._planned.keys() | self._tasks.keys()))
        return BatchResult(
            schema_version=SCHEMA_VERSION,
            run_id=self._start.run_id if self._start else "",
            started_at=started_at,
            duration_s=end.duration_s if end else seconds_between(started_at, self._last_at),
            status=status,
            planned=tuple(self._planned.values()),
            totals=totals,
            results=results,
            exit_code=exit_code(
                [result.outcome for result in results],
                missing=totals.missing,
                is_starved=any(task.is_starved for task in self._tasks.values()),
                is_interrupted=status == "interrupted",
                signal_exit_code=end.signal_exit_code if end else None,
            ),
            pi_batch_version=self._start.pi_batch_version if self._start else "",
            warnings=tuple(self._warnings),
        )

    def task_result(self, key: str) -> RunResult | None:
        """One task as it stands; None before its first event."""
        return self._result(key) if key in self._tasks else None

    def _begin(self, event: BatchStart) -> None:
        """Take the plan; a resumed run begins again in the same log."""
        self._start = self._start or event
        self._end = None
        self._results.clear()
        for planned in event.planned:
            self._planned.setdefault(planned.key, planned)

    def _feed_task(self, key: str | None, at: str, event: TaskEvent) -> None:
        if key is None:
            return
        if key not in self._tasks:
            self._tasks[key] = TaskFold(self._planned.get(key) or _unplanned(key))
        self._tasks[key].feed(at, event)
        self._results.pop(key, None)

    def _result(self, key: str) -> RunResult:
        if key not in self._results:
            is_interrupted = self._end is not None and self._end.status == "interrupted"
            self._results[key] = self._tasks[key].result(is_interrupted=is_interrupted)
        return self._results[key]

    def _ordered_keys(self) -> list[str]:
        """Keys with events: in the plan's order, then those that no plan named."""
        planned = [key for key in self._planned if key in self._tasks]
        return planned + [key for key in self._tasks if key not in self._planned]


def fold(records: Iterable[Record]) -> BatchResult:
    """The result of a whole stream."""
    state = Fold()
    for record in records:
        state.feed(record)
    return state.result()


def _unplanned(key: str) -> PlannedResult:
    """A stand-in for a key that no plan named: its result is shown all the same."""
    return PlannedResult(key=key, task_id=key, title="", spec="", spec_sha256="", model="")
