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
    TaskStart,
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
        self._latest: dict[str, PlannedResult] = {}
        """As the last leg planned them; `_planned` has what was planned when a task began."""
        self._tasks: dict[str, TaskFold] = {}
        self._results: dict[str, RunResult] = {}
        """Made once per change of a task, so that a report after every task stays cheap."""
        self._warnings: list[str] = []
        self._last_seq = 0
        self._last_at = ""
        self._legs = 0
        self._leg_started_at = ""
        self._earlier_s = 0.0
        """How long earlier legs took."""
        self._is_over = False

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
                self._begin(event, record.at)
            case BatchEnd():
                self._end = event
                self._results.clear()
            case Warned() if record.key is None:
                self._warnings.append(event.message)
            case _:
                self._feed_task(record.key, record.at, event)
        self._last_at = record.at

    def end_of_log(self) -> None:
        """Nothing more will come: a run without its end was interrupted."""
        self._is_over = True
        self._results.clear()

    @property
    def last_seq(self) -> int:
        """The sequence number of the last record; 0 without any."""
        return self._last_seq

    @property
    def legs(self) -> int:
        """How often the run was begun."""
        return self._legs

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of the run as a whole."""
        return tuple(self._warnings)

    def result(self) -> BatchResult:
        """Everything known so far; costs O(tasks)."""
        results = tuple(self._result(key) for key in self._ordered_keys())
        end, status = self._end, self._status()
        totals = total(results, planned=len(self._planned.keys() | self._tasks.keys()))
        return BatchResult(
            schema_version=SCHEMA_VERSION,
            run_id=self._start.run_id if self._start else "",
            started_at=self._start.started_at if self._start else "",
            duration_s=self._duration_s(),
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
            legs=max(self._legs, 1),
        )

    def task_result(self, key: str) -> RunResult | None:
        """One task as it stands; None before its first event."""
        return self._result(key) if key in self._tasks else None

    def has_ended(self, key: str) -> bool:
        """True when a task's last event but warnings was its end."""
        return key in self._tasks and self._tasks[key].has_ended

    def _begin(self, event: BatchStart, at: str) -> None:
        """Take the plan; a resumed run begins again in the same log."""
        if self._start is not None:
            self._earlier_s = self._duration_s()
        self._start = self._start or event
        self._leg_started_at = at
        self._legs += 1
        self._end = None
        self._results.clear()
        begun = {key: planned for key, planned in self._planned.items() if key in self._tasks}
        self._planned = {planned.key: begun.get(planned.key, planned) for planned in event.planned} | begun
        self._latest = {planned.key: planned for planned in event.planned}

    def _feed_task(self, key: str | None, at: str, event: TaskEvent) -> None:
        if key is None:
            return
        if key not in self._tasks:
            self._tasks[key] = TaskFold(self._planned.get(key) or _unplanned(key))
        elif isinstance(event, TaskStart) and event.is_rerun:
            planned = self._latest.get(key) or self._tasks[key].planned
            self._planned[key] = planned
            self._tasks[key] = TaskFold(planned, before=self._tasks[key].result(is_interrupted=True))
        self._tasks[key].feed(at, event)
        self._results.pop(key, None)

    def _result(self, key: str) -> RunResult:
        if key not in self._results:
            is_interrupted = self._status() == "interrupted"
            self._results[key] = self._tasks[key].result(is_interrupted=is_interrupted)
        return self._results[key]

    def _status(self) -> BatchStatus:
        if self._end is not None:
            return self._end.status
        return "interrupted" if self._is_over else "running"

    def _duration_s(self) -> float:
        """Over all legs; of one without an end, up to its last event."""
        if self._end is not None:
            return round(self._earlier_s + self._end.duration_s, 3)
        return round(self._earlier_s + seconds_between(self._leg_started_at, self._last_at), 3)

    def _ordered_keys(self) -> list[str]:
        """Keys with events: in the plan's order, then those that no plan named."""
        planned = [key for key in self._planned if key in self._tasks]
        return planned + [key for key in self._tasks if key not in self._planned]


def fold(records: Iterable[Record], *, is_over: bool = False) -> BatchResult:
    """The result of a whole stream; `is_over`: nothing more will come, also where the end is missing."""
    state = Fold()
    for record in records:
        state.feed(record)
    if is_over:
        state.end_of_log()
    return state.result()


def _unplanned(key: str) -> PlannedResult:
    """A stand-in for a key that no plan named: its result is shown all the same."""
    return PlannedResult(key=key, task_id=key, title="", spec="", spec_sha256="", model="")
