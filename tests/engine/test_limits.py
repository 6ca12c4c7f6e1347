"""A near limit is said once per dimension; a reached one names its stop."""

from __future__ import annotations

import pytest

from pi_batch.budget import Ledger, Need
from pi_batch.engine.limits import LimitNotice
from pi_batch.messages import Usage
from pi_batch.results import AgentStop, BudgetAmounts
from tests.clocks import FakeClock


async def spend(ledger: Ledger, tokens: int = 10, cost_usd: float = 0.0) -> None:
    ledger.settle(await ledger.reserve(Need(0, 1_024)), Usage(tokens), cost_usd)


def make(clock: FakeClock | None = None, **limits: float) -> tuple[Ledger, LimitNotice]:
    ledger = Ledger(BudgetAmounts(**limits), clock or FakeClock())  # type: ignore[arg-type]
    return ledger, LimitNotice(ledger)


def test_far_from_every_limit_nothing_is_said() -> None:
    _, notice = make(turns=50, tokens=10**6, cost_usd=5.0, wall_s=100.0, tool_calls=9)
    assert notice.due(100) is None
    assert notice.reached() is None


async def test_the_last_turn_is_said_once() -> None:
    ledger, notice = make(turns=2)
    assert notice.due(0) is None
    await spend(ledger)
    warned = notice.due(0)
    assert warned is not None
    assert warned[0] == "turns"
    assert notice.due(0) is None


async def test_few_tokens_are_said() -> None:
    ledger, notice = make(tokens=10_000)
    await spend(ledger, tokens=7_000)
    warned = notice.due(1_000)
    assert warned is not None
    assert warned[0] == "tokens"
    assert "3000 left" in warned[1]


async def test_little_money_is_said() -> None:
    ledger, notice = make(cost_usd=1.0)
    await spend(ledger, cost_usd=0.5)
    warned = notice.due(0)
    assert warned is not None
    assert "$0.5000 left" in warned[1]


def test_little_time_is_said() -> None:
    clock = FakeClock()
    ledger, notice = make(clock, wall_s=100.0)
    ledger.start_time()
    clock.advance(91)
    warned = notice.due(0)
    assert warned is not None
    assert "9 s left" in warned[1]


def test_few_calls_are_said() -> None:
    ledger, notice = make(tool_calls=30)
    for _ in range(26):
        ledger.charge_tool_call()
    assert notice.due(0) is None
    ledger.charge_tool_call()
    warned = notice.due(0)
    assert warned is not None
    assert warned[0] == "tool_calls"
    assert "left: 3" in warned[1]


async def test_two_near_limits_are_said_one_after_the_other() -> None:
    ledger, notice = make(turns=2, cost_usd=1.0)
    await spend(ledger, cost_usd=0.9)
    said = [notice.due(0), notice.due(0), notice.due(0)]
    assert [warned[0] if warned else None for warned in said] == ["turns", "cost_usd", None]


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        ({"turns": 1}, "max_turns"),
        ({"tokens": 1_100}, "max_tokens"),
        ({"cost_usd": 0.5}, "max_cost"),
    ],
)
async def test_a_reached_limit_names_its_stop(limits: dict[str, float], stop: AgentStop) -> None:
    ledger, notice = make(None, **limits)
    await spend(ledger, tokens=76, cost_usd=0.5)
    assert notice.reached() == stop


async def test_the_suites_reached_limit_counts_too() -> None:
    suite = Ledger(BudgetAmounts(turns=1), FakeClock(), is_suite=True)
    task = Ledger(BudgetAmounts(turns=50), FakeClock(), suite)
    await spend(task)
    assert LimitNotice(task).reached() == "max_turns"
