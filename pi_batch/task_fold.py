"""What the stream says about one task, gathered event by event, and the `RunResult` made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, assert_never

from msgspec.structs import replace

from pi_batch.check_fold import CheckFold
from pi_batch.errors import ToolErrorKind
from pi_batch.events import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    BudgetWarning,
    CompactionEnd,
    CompactionStart,
    MessageEnd,
    MessageStart,
    ModelClassified,
    ModelSelected,
    RetryScheduled,
    TaskEnd,
    TaskStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnEnd,
    TurnStart,
    VerificationEnd,
    VerificationStart,
    Warned,
    WorkspaceReady,
)
from pi_batch.model_fold import ModelFold
from pi_batch.outcome import Evidence, judge
from pi_batch.results import (
    BudgetAmounts,
    BudgetReport,
    PermissionDenial,
    PlannedResult,
    RunResult,
)
from pi_batch.script_fold import ScriptFold

TaskEvent = (
    TaskStart
    | WorkspaceReady
    | AgentStart
    | TurnStart
    | MessageStart
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionEnd
    | RetryScheduled
    | ModelClassified
    | ModelSelected
    | CompactionStart
    | CompactionEnd
    | BudgetWarning
    | TurnEnd
    | AgentEnd
    | AgentSettled
    | VerificationStart
    | VerificationEnd
    | TaskEnd
    | Warned
)
"""Everything that belongs to a task and is in the log."""

NOT_CARRIED_OUT: frozenset[ToolErrorKind] = frozenset(
    {"malformed_tool_call", "unknown_tool", "invalid_arguments", "denied", "not_run"}
)
"""Calls that ended in one of these were answered, not carried out."""

DENIED_INPUT_MAX_CHARS = 2000
"""For each string in a denied call's input: a refused `write` may hold megabytes."""


class TaskFold:
    """Accumulates one task's events; `result` may be asked for at any time."""

    def __init__(self, planned: PlannedResult, before: RunResult | None = None) -> None:
        """`before` is what came of the task before it was begun anew: its sums go on."""
        self.planned = planned
        self._starts: list[TaskStart] = []
        self._workspace: WorkspaceReady | None = None
        self._end: TaskEnd | None = None
        self._leg_from = ""
        """When the task was started last."""
        self._last_at = ""
        self._earlier_s = before.duration_s if before else 0.0
        self._earlier_working_s = before.working_s if before else 0.0
        self._agent: AgentEnd | None = None
        self._agent_attempt = 0
        self._answer: str | None = None
        self._checks = CheckFold()
        self._used = BudgetAmounts()
        self._models = ModelFold(before)
        self._calls: Counter[str] = Counter(before.tool_calls if before else {})
        self._scripts = ScriptFold(before.codemode if before else None)
        self._denials: list[PermissionDenial] = []
        self._denied: dict[str, str] = {}
        """Tool -> the rule that refused its last call, until one is carried out."""
        self._warnings: list[str] = []

    @property
    def has_ended(self) -> bool:
        """True when nothing of it runs."""
        return self._end is not None

    @property
    def is_starved(self) -> bool:
        """True when the suite's budget ran out before this task could start."""
        return self._end is not None and self._end.is_starved

    def feed(self, at: str, event: TaskEvent) -> None:
        """Take one event of this task."""
        self._tell_time(at, is_start=isinstance(event, TaskStart))
        match event:
            case TaskStart():
                self._starts.append(event)
                self._end = None
            case WorkspaceReady():
                self._workspace = event
            case AgentStart():
                self._agent = None
                self._agent_attempt = event.attempt
            case MessageStart() | MessageEnd() | CompactionEnd() | ModelClassified() | ModelSelected():
                self._models.feed(event)
            case ToolExecutionEnd():
                self._call_ended(event)
            case TurnEnd():
                self._used = event.used
            case AgentEnd():
                self._agent = event
                self._agent_attempt = event.attempt
                self._answer = event.answer if event.answer is not None else self._answer
            case VerificationStart() | VerificationEnd():
                self._checks.feed(event, start=len(self._starts))
            case TaskEnd():
                self._end = event
                self._used = event.used
            case Warned():
                self._warnings.append(event.message)
            case (
                TurnStart()
                | ToolExecutionStart()
                | RetryScheduled()
                | CompactionStart()
                | BudgetWarning()
                | AgentSettled()
            ):
                pass
            case _:
                assert_never(event)

    def _tell_time(self, at: str, *, is_start: bool) -> None:
        if is_start and self._last_at:
            self._earlier_s, self._earlier_working_s = self._durations_s()
            self._leg_from = at
        self._leg_from = self._leg_from or at
        self._last_at = at

    def result(self, *, is_interrupted: bool) -> RunResult:
        """The task as the events so far have it; one that has not ended is never passed."""
        planned, end, workspace = self.planned, self._end, self._workspace
        start = self._starts[0] if self._starts else None
        verdict = judge(self._evidence(is_interrupted))
        is_skipped = verdict.outcome == "skipped"
        duration_s, working_s = self._durations_s()
        return RunResult(
            key=planned.key,
            task_id=planned.task_id,
            title=planned.title,
            spec=planned.spec,
            spec_sha256=planned.spec_sha256,
            model=planned.model,
            suite=planned.suite,
            models_used=tuple(self._models.used),
            inputs=planned.inputs,
            repeat=planned.repeat,
            tags=planned.tags,
            digest=planned.digest,
            edition=planned.edition,
            outcome=verdict.outcome,
            verified=verdict.is_verified,
            stop=None if self._agent is None or is_skipped else self._agent.stop,
            reason=verdict.reason,
            error=verdict.error,
            attempts=max(self._checks.judged_attempts(), min(self._agent_attempt, 1)),
            num_turns=self._models.turns,
            tool_calls=dict(sorted(self._calls.items())),
            codemode=self._scripts.counts(),
            usage=self._models.usage,
            total_cost_usd=self._models.cost_usd,
            budget=BudgetReport(limit=start.budget if start else BudgetAmounts(), used=self._used),
            started_at=start.started_at if start else None,
            duration_s=duration_s,
            working_s=working_s,
            verification=self._checks.ended(),
            changed_files=end.changed_files if end else (),
            protected_touched=end.protected_touched if end else (),
            permission_denials=tuple(self._denials),
            warnings=(*self._models.fallbacks, *self._warnings),
            answer=self._answer,
            structured_output=end.structured_output if end else None,
            session=workspace.session if workspace else None,
            patch=end.patch if end else None,
            base_commit=workspace.base_commit if workspace else None,
            start_commit=workspace.start_commit if workspace else None,
            sandbox=workspace.sandbox if workspace else None,
            settings=start.settings if start else {},
            cache_read_share=self._models.usage.cache_read_share,
            model_usage=dict(self._models.by_model),
            model_selections=tuple(self._models.selections),
            repo=planned.repo,
            ref=planned.ref,
            repo_name=planned.repo_name,
            skipped_by=end.skipped_by if end and is_skipped else None,
        )

    def _durations_s(self) -> tuple[float, float]:
        """(duration, working time) over all legs; of one without an end, up to its last event."""
        end = self._end
        leg_s = end.duration_s if end else seconds_between(self._leg_from, self._last_at)
        working_s = end.working_s if end else leg_s
        return round(self._earlier_s + leg_s, 3), round(self._earlier_working_s + working_s, 3)

    def _evidence(self, is_interrupted: bool) -> Evidence:
        attempt = max(self._agent_attempt, self._checks.last_attempt)
        return Evidence(
            end=self._end,
            is_interrupted=is_interrupted,
            has_checks=self._checks.last_attempt > 0 or any(start.has_checks for start in self._starts),
            checks=self._checks.deciding(attempt),
            agent=self._agent,
            denied=next(iter(self._denied.values()), ""),
        )

    def _call_ended(self, event: ToolExecutionEnd) -> None:
        kind = _SAME_RIGHT.get(event.tool, event.tool)
        if event.denial is not None:
            self._denied[kind] = event.denial.rule
        elif not event.is_error:
            self._denied.pop(kind, None)
        if event.denial is not None:
            self._denials.append(replace(event.denial, input=_shortened(event.denial.input)))
        if event.error_kind in NOT_CARRIED_OUT:
            return
        self._scripts.feed(event)
        if event.parent_tool_call_id is None:
            self._calls[event.tool] += 1


_SAME_RIGHT = {"edit": "write", "grep": "read", "find": "read", "ls": "read"}
"""Tools that do what another one may."""


def seconds_between(first: str, last: str) -> float:
    """Seconds from one ISO 8601 time to a later one; 0.0 where they cannot be read."""
    try:
        seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    except (ValueError, TypeError):
        return 0.0
    return max(seconds, 0.0)


def _shortened(input_: Mapping[str, Any]) -> Mapping[str, Any]:
    """A denied call's input with every long string cut."""
    return {key: _short(value) for key, value in input_.items()}


def _short(value: Any) -> Any:
    match value:
        case str() if len(value) > DENIED_INPUT_MAX_CHARS:
            return f"{value[:DENIED_INPUT_MAX_CHARS]}… ({len(value)} characters)"
        case Mapping():
            return _shortened(value)
        case list() | tuple():
            return [_short(item) for item in value]
        case _:
            return value
