"""The ledger never lets more be spent than its limits, whatever runs at once."""

from __future__ import annotations

import asyncio
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.budget import MIN_OUTPUT_TOKENS, BudgetExhausted, Ledger, Need, Reservation, Spent
from pi_batch.messages import Usage
from pi_batch.results import BudgetAmounts
from tests.clocks import FakeClock


def make(parent: Ledger | None = None, clock: FakeClock | None = None, **limits: float) -> Ledger:
    return Ledger(BudgetAmounts(**limits), clock or FakeClock(), parent)  # type: ignore[arg-type]


def spent(tokens: int) -> Usage:
    return Usage(output_tokens=tokens)


async def one_turn(ledger: Ledger, cost_usd: float | None = 0.0, need: Need | None = None) -> Reservation:
    reservation = await ledger.reserve(need or Need(0, 2_000))
    ledger.settle(reservation, spent(10), cost_usd)
    return reservation


async def test_three_turns_are_exactly_three_replies() -> None:
    ledger = make(turns=3)
    for _ in range(3):
        await one_turn(ledger)
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve(Need(0, 2_000))
    assert caught.value.stop == "max_turns"
    assert ledger.used.turns == 3


async def test_a_failed_request_gives_its_turn_back_but_not_what_it_cost() -> None:
    ledger = make(turns=1, cost_usd=1.0)
    ledger.settle_uncounted(await ledger.reserve(Need(10, 2_000)), spent(7), 0.25)
    assert (ledger.turns, ledger.used.tokens, ledger.used.cost_usd) == (0, 7, 0.25)
    await one_turn(ledger)


async def test_the_output_cap_shrinks_to_what_the_tokens_left_allow() -> None:
    ledger = make(tokens=10_000)
    reservation = await ledger.reserve(Need(3_000, 32_000))
    assert reservation.output_tokens == 7_000


async def test_no_request_is_made_with_less_than_the_least_output_left() -> None:
    ledger = make(tokens=3_000 + MIN_OUTPUT_TOKENS - 1)
    with pytest.raises(BudgetExhausted, match=r"budget\.tokens"):
        await ledger.reserve(Need(3_000, 32_000))


async def test_all_four_kinds_of_tokens_count() -> None:
    ledger = make(tokens=100_000)
    ledger.settle(await ledger.reserve(Need(0, 2_000)), Usage(1, 20, 300, 4_000, reasoning_tokens=5), 0.0)
    assert ledger.used.tokens == 4_321


async def test_the_output_cap_shrinks_to_what_the_money_left_pays_for() -> None:
    ledger = make(cost_usd=0.05)
    need = Need(1_000, 32_000, lambda given, out: (given + 5 * out) / 1e6)
    reservation = await ledger.reserve(need)
    assert reservation.output_tokens == 9_800
    assert reservation.cost_usd <= 0.05


async def test_a_request_whose_input_alone_is_too_dear_is_not_made() -> None:
    ledger = make(cost_usd=0.001)
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve(Need(1_000, 32_000, lambda given, out: (given + out) * 1e-5))
    assert caught.value.stop == "max_cost"


async def test_a_reached_money_limit_stops_even_requests_thought_free() -> None:
    ledger = make(cost_usd=1.0)
    for _ in range(3):
        await one_turn(ledger, cost_usd=0.4)
    with pytest.raises(BudgetExhausted, match=r"cost_usd"):
        await ledger.reserve(Need(0, 2_000))


async def test_a_limit_of_nothing_lets_free_requests_through() -> None:
    ledger = make(cost_usd=0.0)
    await one_turn(ledger, cost_usd=0.0)
    await one_turn(ledger, cost_usd=0.0)
    assert ledger.used.cost_usd == 0.0


async def test_one_unknown_price_makes_the_sum_unknown() -> None:
    ledger = make()
    await one_turn(ledger, cost_usd=0.5)
    await one_turn(ledger, cost_usd=None)
    await one_turn(ledger, cost_usd=0.5)
    assert ledger.used.cost_usd is None


async def test_a_reservation_in_the_way_of_another_task_is_waited_for() -> None:
    suite = make(tokens=10_000)
    first, second = make(suite), make(suite)
    held = await first.reserve(Need(1_000, 5_000))
    waiting = asyncio.create_task(second.reserve(Need(1_000, 5_000)))
    await asyncio.sleep(0)
    assert not waiting.done()
    first.settle(held, spent(500), 0.0)
    reservation = await asyncio.wait_for(waiting, 1)
    assert reservation.output_tokens == 5_000


async def test_a_released_reservation_leaves_no_trace() -> None:
    ledger = make(turns=1, tokens=4_000, cost_usd=1.0)
    for _ in range(5):
        ledger.release(await ledger.reserve(Need(1_000, 3_000, lambda _given, _out: 0.9)))
    await one_turn(ledger)


async def test_the_suites_exhaustion_ends_a_task_with_room_of_its_own() -> None:
    suite = Ledger(BudgetAmounts(turns=2), FakeClock(), is_suite=True)
    task = make(suite, turns=50)
    await one_turn(task)
    await one_turn(task)
    with pytest.raises(BudgetExhausted, match="the suite's budget") as caught:
        await task.reserve(Need(0, 2_000))
    assert caught.value.is_suite


async def test_wall_time_counts_only_while_it_runs() -> None:
    clock = FakeClock()
    ledger = make(clock=clock, wall_s=10.0)
    ledger.start_time()
    clock.advance(4)
    ledger.stop_time()
    clock.advance(100)
    ledger.start_time()
    clock.advance(5)
    assert ledger.seconds_left == pytest.approx(1.0)
    clock.advance(1)
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve(Need(0, 2_000))
    assert caught.value.stop == "max_wall_time"


async def test_time_that_runs_out_while_waiting_ends_the_wait() -> None:
    suite = make(tokens=4_000)
    clock = FakeClock()
    task = make(suite, clock, wall_s=0.01)
    await make(suite).reserve(Need(1_000, 3_000))
    task.start_time()
    waiting = asyncio.create_task(task.reserve(Need(1_000, 3_000)))
    await asyncio.sleep(0)
    clock.advance(1)
    with pytest.raises(BudgetExhausted, match="wall_s"):
        await asyncio.wait_for(waiting, 3)


def test_without_limits_there_is_always_room() -> None:
    ledger = make()
    assert ledger.seconds_left == inf
    assert ledger.turns_left() == inf
    assert ledger.exhausted_dimension() is None


def test_tool_calls_stop_at_their_limit() -> None:
    ledger = make(tool_calls=2)
    ledger.charge_tool_call()
    ledger.charge_tool_call()
    with pytest.raises(BudgetExhausted, match="tool_calls"):
        ledger.charge_tool_call()
    assert ledger.tool_calls == 2


async def test_a_reservation_is_settled_once() -> None:
    ledger = make()
    reservation = await one_turn(ledger)
    with pytest.raises(ValueError, match="once"):
        ledger.release(reservation)


PRICE = st.floats(min_value=0, max_value=1e-4)
TURN = st.tuples(st.integers(0, 5_000), st.integers(1, 40_000), st.floats(0, 1), PRICE)


@given(
    st.lists(st.lists(TURN, max_size=6), min_size=1, max_size=6),
    st.integers(1, 60_000),
    st.floats(min_value=0.0001, max_value=3.0),
    st.integers(1, 12),
)
def test_parallel_tasks_never_overrun_their_suite(
    tasks: list[list[tuple[int, int, float, float]]], tokens: int, cost_usd: float, turns: int
) -> None:
    """Services that keep to the output cap: no limit is passed at any moment, and nobody waits for ever."""

    async def work(suite: Ledger, wishes: list[tuple[int, int, float, float]]) -> None:
        ledger = make(suite)
        for given_tokens, output, share, usd in wishes:

            def price(inp: int, out: int, usd: float = usd) -> float:
                return (inp + out) * usd

            try:
                held = await ledger.reserve(Need(given_tokens, output, price))
            except BudgetExhausted:
                return
            await asyncio.sleep(0)
            out = int(held.output_tokens * share)
            ledger.settle(held, Usage(given_tokens, out), price(given_tokens, out))

    async def main() -> Ledger:
        suite = make(tokens=tokens, cost_usd=cost_usd, turns=turns)
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            for wishes in tasks:
                group.create_task(work(suite, wishes))
        return suite

    used = asyncio.run(main()).used
    assert used.tokens is not None
    assert used.tokens <= tokens
    assert used.cost_usd is not None
    assert used.cost_usd <= cost_usd + 1e-9
    assert used.turns is not None
    assert used.turns <= turns


def test_a_ledger_begins_where_an_earlier_process_ended() -> None:
    clock = FakeClock()
    suite = Ledger(BudgetAmounts(), clock, is_suite=True)
    ledger = Ledger(BudgetAmounts(turns=3, wall_s=10), clock, suite)
    ledger.carry(Spent(Usage(10, 5), turns=2, tool_calls=4, cost_usd=0.5, known_cost_usd=0.5, wall_s=9.0))
    assert ledger.used == BudgetAmounts(turns=2, tokens=15, cost_usd=0.5, wall_s=9.0, tool_calls=4)
    assert (ledger.turns_left(), ledger.seconds_left) == (1, 1.0)
    assert suite.used.turns == 0


def test_what_nobody_has_counted_yet_counts_in_task_and_suite() -> None:
    suite = Ledger(BudgetAmounts(), FakeClock(), is_suite=True)
    ledger = Ledger(BudgetAmounts(), FakeClock(), suite)
    ledger.charge(Usage(10, 5), 0.25, turns=1, tool_calls=1)
    for one in (ledger, suite):
        assert (one.turns, one.used.tokens, one.cost_usd, one.tool_calls) == (1, 15, 0.25, 1)
    ledger.charge(Usage(1), None)
    assert suite.cost_usd is None


def test_used_up_tool_calls_are_a_limit_that_is_reached() -> None:
    ledger = Ledger(BudgetAmounts(tool_calls=1), FakeClock(), is_suite=True)
    assert ledger.exhausted_dimension() is None
    ledger.charge_tool_call()
    assert ledger.exhausted_dimension() == "tool_calls"
