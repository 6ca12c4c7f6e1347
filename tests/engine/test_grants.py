"""What trials elsewhere may spend: reserved before each begins, and never more than the suite has."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from pi_batch.budget import MIN_OUTPUT_TOKENS
from pi_batch.engine.grants import Grants, NoRoom
from pi_batch.fold import fold
from pi_batch.messages import Usage
from pi_batch.results import BudgetAmounts, RunResult
from tests.streams import Stream

NOTHING = BudgetAmounts()
PLAIN = fold(Stream("a").start("a").end("a").records).results[0]


def result(key: str, tokens: int = 0, turns: int = 0, cost_usd: float = 0.0) -> RunResult:
    usage = Usage(input_tokens=tokens)
    return replace(PLAIN, key=key, usage=usage, num_turns=turns, total_cost_usd=cost_usd, duration_s=4.0)


class Suite:
    """A suite's budget, and what its trials have come to."""

    def __init__(self, **limit: float) -> None:
        self.results: dict[str, RunResult] = {}
        self.grants = Grants(
            BudgetAmounts(**limit),  # type: ignore[arg-type]
            lambda: tuple(self.results.values()),
            lambda: 30.0,
        )

    def spend(self, key: str, **amounts: float) -> None:
        self.results[key] = result(key, **amounts)  # type: ignore[arg-type]


async def test_without_a_limit_nothing_is_limited() -> None:
    assert await Suite().grants.take("a", BudgetAmounts(tokens=5), 1) == NOTHING


async def test_a_trial_gets_what_its_own_limits_allow() -> None:
    suite = Suite(tokens=100_000, turns=20, cost_usd=1.0)
    granted = await suite.grants.take("a", BudgetAmounts(tokens=30_000, turns=50), 2)
    assert (granted.tokens, granted.turns, granted.cost_usd) == (30_000, 20, 0.5)


async def test_without_own_limits_room_is_shared_by_those_that_may_begin() -> None:
    suite = Suite(tokens=90_000)
    tokens = [
        (await suite.grants.take(key, NOTHING, free)).tokens for key, free in (("a", 3), ("b", 2), ("c", 1))
    ]
    assert tokens == [30_000, 30_000, 30_000]


async def test_what_a_trial_leaves_is_free_again_and_what_it_spent_is_not() -> None:
    suite = Suite(tokens=90_000)
    await suite.grants.take("a", NOTHING, 1)
    suite.spend("a", tokens=10_000)
    suite.grants.give_back("a")
    assert (await suite.grants.take("b", NOTHING, 1)).tokens == 80_000


async def test_a_trial_without_room_waits_until_another_ends() -> None:
    suite = Suite(turns=10)
    await suite.grants.take("a", NOTHING, 1)
    waiting = asyncio.create_task(suite.grants.take("b", NOTHING, 1))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    suite.spend("a", turns=4)
    suite.grants.give_back("a")
    assert (await waiting).turns == 6


async def test_when_all_is_spent_and_nobody_runs_there_is_no_room() -> None:
    suite = Suite(cost_usd=1.0, tokens=100_000)
    suite.spend("a", cost_usd=1.0)
    with pytest.raises(NoRoom) as caught:
        await suite.grants.take("b", NOTHING, 1)
    assert caught.value.dimension == "cost_usd"


async def test_less_than_one_reply_needs_is_no_room() -> None:
    suite = Suite(tokens=MIN_OUTPUT_TOKENS - 1)
    with pytest.raises(NoRoom):
        await suite.grants.take("a", NOTHING, 1)


async def test_a_small_even_part_is_made_up_to_one_reply_while_there_is_room() -> None:
    suite = Suite(turns=2)
    assert (await suite.grants.take("a", NOTHING, 8)).turns == 1


async def test_free_models_run_under_a_limit_of_no_money() -> None:
    assert (await Suite(cost_usd=0.0).grants.take("a", NOTHING, 1)).cost_usd == 0.0


async def test_a_trial_that_goes_on_counts_what_it_spent_before() -> None:
    """So a second execution of it has the same limit, whatever the first one spent."""
    suite = Suite(tokens=90_000, wall_s=60.0)
    suite.spend("a", tokens=20_000)
    granted = await suite.grants.take("a", NOTHING, 1)
    assert (granted.tokens, granted.wall_s) == (90_000, 34.0)


async def test_all_grants_together_never_pass_the_limit() -> None:
    suite = Suite(tokens=50_000)
    for key in "abcde":
        await suite.grants.take(key, BudgetAmounts(tokens=10_000), 5)
    last = asyncio.create_task(suite.grants.take("f", BudgetAmounts(tokens=10_000), 1))
    await asyncio.sleep(0)
    assert not last.done()
    last.cancel()
