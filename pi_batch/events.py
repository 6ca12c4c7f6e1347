"""The one stream: everything that happens in a run, in order, as frozen values.

Names are pi's where pi has one. The union is closed: `fold` and the sinks match on it with
`assert_never`. A log written by a newer version may hold types unknown here: they are kept as
`UnknownEvent`. Messages are not repeated in events.jsonl: `MessageEnd.message` is live only and the log
names the session entry instead. `MessageUpdate` and `ToolExecutionUpdate` are live only and carry no
sequence number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from pi_batch.errors import ErrorKind, ToolErrorKind
from pi_batch.messages import AssistantMessage, Message, StopReason, Usage
from pi_batch.results import (
    AgentStop,
    BudgetAmounts,
    ChangedFile,
    EffectiveValue,
    PermissionDenial,
    PlannedResult,
    RoutePolicy,
    RunError,
    SandboxReport,
    SkippedBy,
    TestCounts,
)

LOG_VERSION = 1

VerificationPhase = Literal["only_if", "setup", "precheck", "baseline", "verify"]
"""Only `verify` decides; setup runs again in the clean copy, baseline counts the start's tests."""


class BatchStart(Struct, frozen=True):
    """A run begins, or is resumed; every planned key is known from here on."""

    run_id: str
    started_at: str
    pi_batch_version: str
    planned: tuple[PlannedResult, ...]
    budget: BudgetAmounts = field(default_factory=BudgetAmounts)
    """The suite's own limits."""
    leg: int = 1
    """From 1: how often the run was begun or resumed; whatever was open before is not any more."""
    type: Literal["batch_start"] = "batch_start"


class TaskStart(Struct, frozen=True):
    """A planned task leaves the queue."""

    started_at: str
    budget: BudgetAmounts
    settings: Mapping[str, EffectiveValue] = field(default_factory=dict)
    has_checks: bool = False
    """True when verify, output.files or output.schema can decide."""
    is_rerun: bool = False
    """True when the task begins anew; False at a later start: it goes on where it was."""
    type: Literal["task_start"] = "task_start"


class WorkspaceReady(Struct, frozen=True):
    """The workspace is open and the sandbox stands (ours; pi has no such event)."""

    path: str
    source: str
    base_commit: str | None
    start_commit: str | None
    sandbox: SandboxReport
    session: str
    """Relative to run.json."""
    type: Literal["workspace_ready"] = "workspace_ready"


class AgentStart(Struct, frozen=True):
    """The loop begins, or goes on after a failed verification."""

    attempt: int
    type: Literal["agent_start"] = "agent_start"


class TurnStart(Struct, frozen=True):
    """One request is about to be made."""

    turn: int
    """From 1, over all attempts."""
    type: Literal["turn_start"] = "turn_start"


class MessageStart(Struct, frozen=True):
    """A message begins to arrive or is about to be added."""

    role: str
    model: str = ""
    """provider/model that a reply is asked of; empty for other roles."""
    type: Literal["message_start"] = "message_start"


class MessageUpdate(Struct, frozen=True):
    """A piece of a streamed reply; live only."""

    kind: Literal["text", "thinking", "tool_call"]
    delta: str
    type: Literal["message_update"] = "message_update"


class MessageEnd(Struct, frozen=True):
    """A message is whole and on disk."""

    entry_id: str
    role: str
    model: str = ""
    """provider/model that answered; empty for other roles."""
    stop_reason: StopReason | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    is_cached: bool = False
    """True when no request was made: the reply had been kept (`--cache`)."""
    message: Message | None = None
    """Live only."""
    type: Literal["message_end"] = "message_end"


class ToolExecutionStart(Struct, frozen=True):
    """A call is being carried out."""

    tool_call_id: str
    tool: str
    arguments: Mapping[str, Any] | None = None
    """Live only for outer calls (the session has them); kept in the log for codemode's inner calls."""
    parent_tool_call_id: str | None = None
    type: Literal["tool_execution_start"] = "tool_execution_start"


class ToolExecutionUpdate(Struct, frozen=True):
    """A piece of a running call's output; live only."""

    tool_call_id: str
    text: str
    type: Literal["tool_execution_update"] = "tool_execution_update"


class ToolExecutionEnd(Struct, frozen=True):
    """A call has its result, or was refused one."""

    tool_call_id: str
    tool: str
    is_error: bool
    error_kind: ToolErrorKind | None = None
    duration_s: float = 0.0
    denial: PermissionDenial | None = None
    parent_tool_call_id: str | None = None
    result_bytes: int = 0
    """What the result takes in a history; an inner call's never gets there."""
    layers: tuple[str, ...] = ()
    """What held the code that the call ran, besides the task's sandbox: codemode's scripts."""
    type: Literal["tool_execution_end"] = "tool_execution_end"


class RetryScheduled(Struct, frozen=True):
    """A request failed and will be made again."""

    attempt: int
    """The try that failed, from 1."""
    wait_s: float
    error_kind: ErrorKind
    message: str
    type: Literal["retry_scheduled"] = "retry_scheduled"


class ModelClassified(Struct, frozen=True):
    """A model was asked what kind of task it is; what that cost is here and in no message."""

    router: str
    label: str
    """The one that was picked."""
    model: str = ""
    """provider/model that answered; empty where none did, and the first label counts."""
    usage: Usage | None = None
    cost_usd: float | None = None
    error: str | None = None
    type: Literal["model_classified"] = "model_classified"


class ModelSelected(Struct, frozen=True):
    """Who is asked from here on, and why; who answered stands at each reply's end."""

    model: str
    """As the route names it: provider/model[:level]."""
    policy: RoutePolicy
    reason: str
    """One line: each policy on the way, and what it went by."""
    router: str = ""
    """router/NAME; empty for a spec's own `fallback:`."""
    previous: str = ""
    """Who was asked before; empty at the beginning."""
    error_kind: ErrorKind | None = None
    """What the one before failed with."""
    error: str = ""
    type: Literal["model_selected"] = "model_selected"


class CompactionStart(Struct, frozen=True):
    """The history is about to be summarised."""

    reason: str
    tokens_before: int
    type: Literal["compaction_start"] = "compaction_start"


class CompactionEnd(Struct, frozen=True):
    """The summary stands, or could not be made."""

    tokens_before: int
    tokens_after: int
    usage: Usage | None = None
    cost_usd: float | None = None
    error: str | None = None
    model: str = ""
    """provider/model that wrote the summary; empty for a recording's."""
    type: Literal["compaction_end"] = "compaction_end"


class BudgetWarning(Struct, frozen=True):
    """A limit is near; the model was told so once."""

    dimension: str
    message: str
    type: Literal["budget_warning"] = "budget_warning"


class TurnEnd(Struct, frozen=True):
    """A reply and the results of its calls are on disk."""

    turn: int
    used: BudgetAmounts
    type: Literal["turn_end"] = "turn_end"


class AgentEnd(Struct, frozen=True):
    """The loop stopped."""

    attempt: int
    stop: AgentStop
    answer: str | None
    """The last reply's text; None when there is none."""
    error: RunError | None = None
    type: Literal["agent_end"] = "agent_end"


class AgentSettled(Struct, frozen=True):
    """No retry, compaction or follow-up is left: nothing automatic will happen in this attempt."""

    attempt: int
    type: Literal["agent_settled"] = "agent_settled"


class VerificationStart(Struct, frozen=True):
    """A setup command, precheck or check begins."""

    phase: VerificationPhase
    name: str
    command: str
    attempt: int
    type: Literal["verification_start"] = "verification_start"


class VerificationEnd(Struct, frozen=True):
    """A setup command, precheck or check ended."""

    phase: VerificationPhase
    name: str
    command: str
    exit_code: int | None
    passed: bool
    duration_s: float
    attempt: int
    tests: TestCounts | None = None
    log: str | None = None
    message: str = ""
    error: RunError | None = None
    type: Literal["verification_end"] = "verification_end"


class TaskEnd(Struct, frozen=True):
    """Nothing more will happen for this key. The outcome is not here: `fold` derives it."""

    duration_s: float
    """Since the last `task_start`."""
    working_s: float
    used: BudgetAmounts
    """Since the task began, over all legs."""
    skip_reason: str | None = None
    skipped_by: SkippedBy | None = None
    is_starved: bool = False
    """True when skipped for want of the suite's budget: such a run exits 1."""
    error: RunError | None = None
    """An error of the harness, the workspace, the sandbox, setup or a check."""
    changed_files: tuple[ChangedFile, ...] = ()
    protected_touched: tuple[str, ...] = ()
    patch: str | None = None
    structured_output: Any = None
    type: Literal["task_end"] = "task_end"


class Warned(Struct, frozen=True):
    """Something a person should know that changes no outcome."""

    message: str
    type: Literal["warning"] = "warning"


class BatchEnd(Struct, frozen=True):
    """The run, or this leg of it, is over."""

    status: Literal["complete", "interrupted"]
    duration_s: float
    """Of this leg."""
    signal_exit_code: int | None = None
    """130 or 143 when a signal ended the run."""
    type: Literal["batch_end"] = "batch_end"


class UnknownEvent(Struct, frozen=True):
    """An event of a type that this version does not know."""

    type: str
    fields: Mapping[str, Any]


Event = (
    BatchStart
    | TaskStart
    | WorkspaceReady
    | AgentStart
    | TurnStart
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionUpdate
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
    | BatchEnd
    | UnknownEvent
)


class Record(Struct, frozen=True):
    """An event with its place in the stream."""

    seq: int | None
    """From 1, gapless; None for live-only events."""
    at: str
    """ISO 8601, UTC, milliseconds."""
    key: str | None
    """The planned key; None for events of the whole run."""
    event: Event


def message_end(entry_id: str, message: Message, model: str) -> MessageEnd:
    """The event of a recorded message; `model` is what was asked, for a reply that names none."""
    if not isinstance(message, AssistantMessage):
        return MessageEnd(entry_id, message.role, message=message)
    provider, _, name = model.partition("/")
    return MessageEnd(
        entry_id,
        message.role,
        f"{message.provider or provider}/{message.model or name}",
        message.stop_reason,
        message.usage,
        message.cost_usd,
        message.is_cached,
        message,
    )
