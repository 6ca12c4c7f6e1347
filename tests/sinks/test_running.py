"""The line of a running task."""

from __future__ import annotations

import pytest

from pi_batch.events import (
    AgentEnd,
    AgentStart,
    CompactionStart,
    Event,
    RetryScheduled,
    ToolExecutionStart,
    TurnEnd,
    TurnStart,
    UnknownEvent,
    VerificationStart,
    Warned,
)
from pi_batch.results import BudgetAmounts
from pi_batch.sinks.running import Running, changed


def after(*events: tuple[float, Event]) -> Running:
    running = Running("fix", "openai/gpt-6", BudgetAmounts(turns=50, wall_s=1800.0), 0.0)
    for at_s, event in events:
        running = changed(running, event, at_s)
    return running


def test_a_line_shows_model_turn_tool_cost_and_the_time_left() -> None:
    running = after(
        (5.0, AgentStart(1)),
        (5.0, TurnStart(3)),
        (6.0, ToolExecutionStart("c", "bash")),
        (7.0, TurnEnd(3, BudgetAmounts(cost_usd=0.0123))),
    )
    assert running.line(65.0) == "fix  openai/gpt-6  turn 3/50  bash  $0.0123  1:05  left 29:00"


def test_only_the_agents_time_is_charged() -> None:
    between = after((100.0, AgentStart(1)), (160.0, AgentEnd(1, "completed", "done")))
    assert between.line(1_000.0).endswith("16:40  left 29:00")
    again = changed(between, AgentStart(2), 1_000.0)
    assert again.line(1_030.0).endswith("left 28:30")
    assert again.line(99_999.0).endswith("left 0:00")


@pytest.mark.parametrize(
    ("event", "activity"),
    [
        (AgentStart(1), "thinking"),
        (CompactionStart("threshold", 9), "compacting"),
        (RetryScheduled(1, 12.4, "rate_limit", "slow down"), "waiting 12 s (rate_limit)"),
        (VerificationStart("setup", "pip", "pip install", 1), "setup: pip"),
        (VerificationStart("verify", "tests", "pytest", 1), "verify: tests"),
    ],
)
def test_a_line_says_what_the_task_does(event: Event, activity: str) -> None:
    assert after((0.0, event)).activity == activity


def test_no_limit_shows_no_time_left() -> None:
    running = Running("fix", "", BudgetAmounts(), 0.0)
    assert running.line(3_661.0) == "fix  turn 0  starting  $0.00  1:01:01"


def test_other_events_change_nothing() -> None:
    running = after((0.0, TurnStart(2)))
    for event in (Warned("x"), UnknownEvent("tea_break", {})):
        assert changed(running, event, 5.0) is running


def test_foreign_text_in_a_line_stays_on_it() -> None:
    line = Running("a\nb\x1b[31m", "m\r", BudgetAmounts(), 0.0, activity="t\u202e").line(0.0)
    assert line == "a b  m  turn 0  t\\u202e  $0.00  0:00"
