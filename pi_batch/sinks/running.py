"""One running task as a line, and what each event makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.encoders import plain_line
from pi_batch.events import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    BatchEnd,
    BatchStart,
    BudgetWarning,
    CompactionEnd,
    CompactionStart,
    Event,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ModelClassified,
    ModelSelected,
    RetryScheduled,
    TaskEnd,
    TaskStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
    UnknownEvent,
    VerificationEnd,
    VerificationStart,
    Warned,
    WorkspaceReady,
)
from pi_batch.result_words import dollars
from pi_batch.results import BudgetAmounts


class Running(Struct, frozen=True):
    """What is known of one running task."""

    key: str
    model: str
    limit: BudgetAmounts
    started_s: float
    """On the monotonic clock, as the other times here."""
    activity: str = "starting"
    """What it does now: the last tool, a check, a wait."""
    turn: int = 0
    cost_usd: float | None = 0.0
    agent_s: float = 0.0
    """Agent time of earlier attempts: setup and checks are not charged to `wall_s`."""
    agent_since_s: float | None = None
    """When the running attempt began; None between attempts."""

    def line(self, now_s: float, plain: Callable[[str, int], str] = plain_line) -> str:
        """`fix-tests  openai/gpt-6  turn 3/50  bash  $0.0123 of $1.50  1:05  left 28:55`."""
        turns = f"/{self.limit.turns}" if self.limit.turns is not None else ""
        parts = [
            plain(self.key, 60),
            plain(self.model, 60),
            f"turn {self.turn}{turns}",
            plain(self.activity, 60),
            self._cost(),
            minutes(now_s - self.started_s),
        ]
        if self.limit.wall_s is not None:
            running_s = now_s - self.agent_since_s if self.agent_since_s is not None else 0.0
            parts.append(f"left {minutes(self.limit.wall_s - self.agent_s - running_s)}")
        return "  ".join(part for part in parts if part)

    def _cost(self) -> str:
        limit = self.limit.cost_usd
        return dollars(self.cost_usd) if limit is None else f"{dollars(self.cost_usd)} of {dollars(limit)}"


def changed(running: Running, event: Event, now_s: float) -> Running:
    """What a running task's event makes of its line."""
    match event:
        case AgentStart():
            return replace(running, activity="thinking", agent_since_s=now_s)
        case AgentEnd():
            since_s = running.agent_since_s
            spent_s = running.agent_s + (now_s - since_s if since_s is not None else 0.0)
            return replace(running, activity="finished", agent_s=spent_s, agent_since_s=None)
        case TurnStart():
            return replace(running, turn=event.turn, activity="thinking")
        case TurnEnd():
            return replace(running, cost_usd=event.used.cost_usd)
        case ToolExecutionStart():
            return replace(running, activity=event.tool)
        case VerificationStart():
            return replace(running, activity=f"{event.phase}: {event.name}")
        case RetryScheduled():
            return replace(running, activity=f"waiting {event.wait_s:.0f} s ({event.error_kind})")
        case CompactionStart():
            return replace(running, activity="compacting")
        case ModelSelected():
            return replace(running, model=event.model)
        case (
            BatchStart()
            | TaskStart()
            | WorkspaceReady()
            | MessageStart()
            | MessageUpdate()
            | MessageEnd()
            | ModelClassified()
            | ToolExecutionUpdate()
            | ToolExecutionEnd()
            | CompactionEnd()
            | BudgetWarning()
            | AgentSettled()
            | VerificationEnd()
            | TaskEnd()
            | Warned()
            | BatchEnd()
            | UnknownEvent()
        ):
            return running
        case _:
            assert_never(event)


def minutes(duration_s: float) -> str:
    """`1:05`, `1:00:00`; never below zero."""
    whole = int(min(max(duration_s, 0.0), 1e9))
    hours, minutes, seconds = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
