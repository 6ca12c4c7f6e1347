"""What earlier legs of a run left: read from its log, task by task, and what is to be done with it.

A leg is one process's part of a run. The log says what was spent and judged, the session what was said;
`restoring` reads the latter. Spending counts from a task's last fresh start: a rerun has its own budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from pi_batch.budget import Spent
from pi_batch.errors import ErrorKind
from pi_batch.events import (
    AgentEnd,
    AgentStart,
    BatchEnd,
    BatchStart,
    BudgetWarning,
    MessageEnd,
    MessageUpdate,
    Record,
    TaskEnd,
    TaskStart,
    ToolExecutionEnd,
    ToolExecutionUpdate,
    UnknownEvent,
    WorkspaceReady,
)
from pi_batch.fold import Fold
from pi_batch.outcome import MODEL_FAULTS
from pi_batch.results import Outcome, PlannedResult, RunResult
from pi_batch.spec import Plan
from pi_batch.task_fold import TaskFold, seconds_between

Mode = Literal["begin", "go_on", "rerun", "prompt", "reverify"]
"""What is done with a task in this leg: from the start; where it was; from the start although it had ended;
with a new prompt after the old ones; only judged again."""

RESUMABLE_KINDS: tuple[ErrorKind, ...] = ("cancelled", "internal")
"""Errors after which a task goes on in the same workspace; a full disk is an internal one."""

Rerun = Literal["failed", "error", "all"]


class TaskLeft(Struct, frozen=True):
    """What is known of one task that an earlier leg began."""

    result: RunResult
    """Of everything since its last fresh start."""
    is_open: bool
    """True when it was interrupted: it can go on."""
    is_starved: bool
    wall_s: float
    """The agent's time."""
    entry_ids: frozenset[str]
    """Messages of the session that the log knows, of all trials."""
    lost_replies: int
    """Requests of its last leg that the log knows to have ended without a message."""
    reply_ids: frozenset[str]
    """Replies of its last leg."""
    ended_calls: frozenset[str]
    """Calls of the last reply that came to their end, whether or not their result was recorded."""
    warned: frozenset[str]
    """Dimensions of the budget that the model was warned of."""
    agent: AgentEnd | None
    """How the last attempt's agent ended by itself; None: it is to go on."""

    @property
    def spent(self) -> Spent:
        """For the task's ledger."""
        return spent_by([self.result], self.wall_s)


class Earlier(Struct, frozen=True):
    """All earlier legs together."""

    fold: Fold
    tasks: Mapping[str, TaskLeft]

    @property
    def spent(self) -> Spent:
        """For the suite's ledger."""
        result = self.fold.result()
        return spent_by(result.results, result.duration_s)


class Work(Struct, frozen=True):
    """What one leg does with the tasks of a plan, and from where it goes on."""

    modes: Mapping[str, Mode]
    """By key; tasks that are not in it stay as they are."""
    earlier: Earlier
    is_changed: bool = False
    """True when the specs changed and that was accepted: prompts and declarations are made anew."""

    def mode(self, key: str) -> Mode | None:
        """What to do with a task; None: nothing."""
        return self.modes.get(key)


def everything(plan: Plan) -> Work:
    """The work of a run that begins now."""
    return Work({task.planned.key: "begin" for task in plan.tasks}, Earlier(Fold(), {}))


def read_earlier(records: Iterable[Record]) -> Earlier:
    """Everything that a log says, in one pass."""
    whole = Fold()
    tasks: dict[str, _Trial] = {}
    for record in records:
        whole.feed(record)
        if isinstance(record.event, BatchStart | BatchEnd):
            for trial in tasks.values():
                trial.end_leg()
        elif record.key is not None:
            before = tasks.get(record.key)
            if before is None or (isinstance(record.event, TaskStart) and record.event.is_rerun):
                tasks[record.key] = _Trial(record.key, before.entry_ids if before else set())
            tasks[record.key].feed(record)
    return Earlier(whole, {key: trial.left() for key, trial in tasks.items()})


def choose(
    keys: Sequence[str], earlier: Earlier, *, rerun: Sequence[Rerun] = (), is_reverify: bool = False
) -> dict[str, Mode]:
    """What a further leg does with each planned task: what has ended stays, unless it is asked for."""
    modes: dict[str, Mode] = {}
    for key in keys:
        left = earlier.tasks.get(key)
        if is_reverify:
            if left is not None and not left.is_open and left.result.attempts > 0:
                modes[key] = "reverify"
        elif left is None or left.is_starved:
            modes[key] = "begin"
        elif left.is_open:
            modes[key] = "go_on"
        elif _is_asked_for(left.result.outcome, rerun):
            modes[key] = "rerun"
    return modes


def _is_asked_for(outcome: Outcome, rerun: Sequence[Rerun]) -> bool:
    return "all" in rerun or outcome in rerun


def spent_by(results: Iterable[RunResult], wall_s: float) -> Spent:
    """What some results used of a budget."""
    spent = Spent(wall_s=wall_s)
    for result in results:
        cost, known = result.total_cost_usd, result.total_cost_usd or 0.0
        spent = Spent(
            usage=spent.usage + result.usage,
            turns=spent.turns + result.num_turns,
            tool_calls=spent.tool_calls + sum(result.tool_calls.values()) + result.codemode.calls,
            cost_usd=None if cost is None or spent.cost_usd is None else spent.cost_usd + cost,
            known_cost_usd=spent.known_cost_usd + known,
            wall_s=wall_s,
        )
    return spent


@dataclass(slots=True)
class _Trial:
    """One task since its last fresh start, while its records come in."""

    key: str
    entry_ids: set[str]
    wall_s: float = 0.0
    agent_from: str = ""
    """When the running attempt began; empty between attempts."""
    last_at: str = ""
    lost_replies: int = 0
    reply_ids: set[str] = field(default_factory=set)
    ended_calls: set[str] = field(default_factory=set)
    warned: set[str] = field(default_factory=set)
    agent: AgentEnd | None = None
    end: TaskEnd | None = None
    fold: TaskFold = field(init=False)

    def __post_init__(self) -> None:
        self.fold = TaskFold(PlannedResult(self.key, self.key, "", "", "", ""))

    def feed(self, record: Record) -> None:
        """Take one record of this task."""
        event = record.event
        match event:
            case BatchStart() | BatchEnd() | MessageUpdate() | ToolExecutionUpdate() | UnknownEvent():
                return
            case TaskStart():
                self.end_leg()
                self.end = None
            case WorkspaceReady():  # what the leg before left open has been counted by now
                self.lost_replies = 0
                self.reply_ids.clear()
            case TaskEnd():
                self.end = event
            case AgentStart():
                self.agent, self.agent_from = None, record.at
            case AgentEnd():
                self.agent = event
                self._stop_time(record.at)
            case MessageEnd() if event.entry_id:
                self.entry_ids.add(event.entry_id)
                if event.role == "assistant":
                    self.ended_calls.clear()
                    self.reply_ids.add(event.entry_id)
            case ToolExecutionEnd():
                self.ended_calls.add(event.tool_call_id)
            case MessageEnd() if event.role == "assistant":
                self.lost_replies += 1
            case BudgetWarning():
                self.warned.add(event.dimension)
            case _:
                pass
        self.fold.feed(record.at, event)
        self.last_at = record.at

    def end_leg(self) -> None:
        """The process ended: an agent that ran then has run up to the last that was heard of it."""
        self._stop_time(self.last_at)

    def left(self) -> TaskLeft:
        """What is known at the end."""
        self.end_leg()
        end = self.end
        return TaskLeft(
            result=self.fold.result(is_interrupted=True),
            is_open=end is None or (end.error is not None and end.error.kind in RESUMABLE_KINDS),
            is_starved=self.fold.is_starved,
            wall_s=round(self.wall_s, 3),
            entry_ids=frozenset(self.entry_ids),
            lost_replies=self.lost_replies,
            reply_ids=frozenset(self.reply_ids),
            ended_calls=frozenset(self.ended_calls),
            warned=frozenset(self.warned),
            agent=self.agent if self.agent is not None and _ended_by_itself(self.agent) else None,
        )

    def _stop_time(self, at: str) -> None:
        if self.agent_from:
            self.wall_s += seconds_between(self.agent_from, at)
            self.agent_from = ""


def _ended_by_itself(agent: AgentEnd) -> bool:
    """True when the agent stopped for a reason of its own: no signal and no service ended it."""
    if agent.stop == "cancelled":
        return False
    return agent.error is None or agent.error.kind in MODEL_FAULTS
