"""The limit grows only when it is used, halves once per flood, and never loses a slot."""

from __future__ import annotations

import asyncio

import pytest

from pi_batch.engine.limiter import Limiter
from pi_batch.errors import ErrorKind, ProviderError


async def use(limiter: Limiter, ended: asyncio.Event | None = None, fails: ErrorKind | None = None) -> None:
    async with limiter.slot():
        if ended is not None:
            await ended.wait()
        if fails is not None:
            raise ProviderError(fails, kind=fails)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_no_more_run_at_once_than_the_limit() -> None:
    limiter, ended = Limiter(2), asyncio.Event()
    running = 0
    peak = 0

    async def one() -> None:
        nonlocal running, peak
        async with limiter.slot():
            running += 1
            peak = max(peak, running)
            await ended.wait()
            running -= 1

    tasks = [asyncio.create_task(one()) for _ in range(5)]
    await settle()
    assert peak == 2
    ended.set()
    await asyncio.gather(*tasks)
    assert running == 0


async def test_an_idle_limit_does_not_grow() -> None:
    limiter = Limiter(4)
    for _ in range(10):
        await use(limiter)
    assert limiter.limit == 4


async def test_a_used_limit_grows_by_one_per_reply() -> None:
    limiter = Limiter(1)
    for _ in range(3):
        ended = asyncio.Event()
        tasks = [asyncio.create_task(use(limiter, ended)) for _ in range(limiter.limit)]
        await settle()
        ended.set()
        await asyncio.gather(*tasks)
    assert 2 <= limiter.limit <= 4


async def test_it_never_grows_beyond_the_most() -> None:
    limiter = Limiter(1, most=2)
    for _ in range(9):
        await use(limiter)
    assert limiter.limit <= 2


@pytest.mark.parametrize("kind", ["rate_limit", "overloaded"])
async def test_too_much_halves_it_once_for_all_under_way(kind: ErrorKind) -> None:
    limiter, ended = Limiter(8), asyncio.Event()
    tasks = [asyncio.create_task(use(limiter, ended, kind)) for _ in range(8)]
    await settle()
    ended.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert limiter.limit == 4


async def test_it_never_falls_below_one() -> None:
    limiter = Limiter(2)
    for _ in range(5):
        with pytest.raises(ProviderError):
            await use(limiter, fails="rate_limit")
    assert limiter.limit == 1
    await use(limiter)


async def test_another_failure_changes_nothing() -> None:
    limiter = Limiter(4)
    with pytest.raises(ProviderError):
        await use(limiter, fails="server_error")
    assert limiter.limit == 4


async def test_first_come_is_first_served() -> None:
    limiter, order = Limiter(1, most=1), []

    async def one(name: str) -> None:
        async with limiter.slot():
            order.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(name) for name in "abcd"))
    assert order == list("abcd")


async def test_one_who_stops_waiting_loses_no_slot() -> None:
    limiter, ended = Limiter(1, most=1), asyncio.Event()
    first = asyncio.create_task(use(limiter, ended))
    await settle()
    waiting = [asyncio.create_task(use(limiter)) for _ in range(3)]
    await settle()
    waiting[0].cancel()
    ended.set()
    waiting[1].cancel()
    await asyncio.gather(first, *waiting, return_exceptions=True)
    await asyncio.wait_for(use(limiter), 1)


async def test_one_cancelled_at_the_moment_of_its_turn_passes_it_on() -> None:
    limiter, ended = Limiter(1, most=1), asyncio.Event()
    first = asyncio.create_task(use(limiter, ended))
    await settle()
    second, third = asyncio.create_task(use(limiter)), asyncio.create_task(use(limiter))
    await settle()
    ended.set()
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    await asyncio.wait_for(third, 1)
