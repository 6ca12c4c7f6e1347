"""Ending processes whole: find all that belong to a call or a task, ask, wait, kill."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping

from pi_batch.sandboxes import marks, processes
from pi_batch.sandboxes.adoption import ADOPTION
from pi_batch.sandboxes.marks import Mark
from pi_batch.sandboxes.processes import Process

KILL_WAIT_S = 3.0
"""How long killed processes may take to go; only one that hangs in the kernel takes longer."""

FIRST_LOOK_S = 0.005
LAST_LOOK_S = 0.1
"""Between looks at what is left, growing."""

Meanwhile = Callable[[asyncio.Task[int]], Awaitable[object]]
"""What to do until an ending is done."""


class Kin:
    """The processes of one call or task, and what was learned about them while they were ended.

    A process belongs by its mark; without any mark by its session; and everything below a process that
    belongs belongs too. Processes of other live tasks carry their own mark, so that none is ever taken
    for this one's; what carries no mark at all is left alone, unless it is a stray.
    """

    def __init__(self, mark: Mark, leaders: Iterable[int], *, takes_strays: bool = False) -> None:
        self.mark = mark
        self._sessions = set(leaders)
        self._runners: set[int] = set()
        """Runners that ran inside: their orphans carry their marks."""
        self._takes_strays = takes_strays
        """True at the last close: what nobody else can be waiting for is ended too."""

    def living(self) -> list[Process]:
        """Those that have not ended; ended ones that were adopted are reaped."""
        table = processes.snapshot()
        me = table.pop(os.getpid(), None)
        own_session = me.session if me is not None else os.getsid(0)
        below = processes.with_descendants([os.getpid()], table) & table.keys()
        mark_of = functools.cache(marks.read)
        seeds = [
            pid for pid in (below if ADOPTION.is_active else table) if self._belongs(table[pid], mark_of(pid))
        ]
        if self._takes_strays:
            seeds += [pid for pid in below if _is_stray(table[pid], mark_of(pid), own_session, table)]
        living = []
        for pid in processes.with_descendants(seeds, table):
            if not table[pid].is_zombie:
                living.append(table[pid])
                self._learn(table[pid], mark_of(pid), own_session)
            elif table[pid].parent == os.getpid():
                ADOPTION.reap(pid)
        return living

    def _belongs(self, process: Process, mark: Mark | None) -> bool:
        if mark is None:
            return process.session in self._sessions
        return self.mark.covers(mark) or mark.runner in self._runners

    def _learn(self, process: Process, mark: Mark | None, own_session: int) -> None:
        """Remember what leads to a process's relatives, should it end before they are found."""
        if process.session != own_session:
            self._sessions.add(process.session)
        if mark is not None and mark.runner != marks.runner_id():
            self._runners.add(mark.runner)


def _is_stray(process: Process, mark: Mark | None, own_session: int, table: Mapping[int, Process]) -> bool:
    """True for what only a task can have left behind.

    That is what a runner inside a task marked, and orphans without a mark whose session has no leader any
    more: what this process starts itself stays in its session or leads one.
    """
    if mark is not None:
        return mark.runner != marks.runner_id()
    leader = table.get(process.session)
    is_leaderless = leader is None or leader.is_zombie
    return process.parent == os.getpid() and process.session != own_session and is_leaderless


async def end(kin: Kin, *, grace_s: float, hurry: asyncio.Event) -> list[Process]:
    """TERM, a grace, KILL, until nothing is left; returns what could not be ended.

    Stopped processes are continued so that they can end in order. `hurry`, once set, cuts the grace short.
    """
    await _until_gone(kin, signal.SIGTERM, grace_s, hurry)
    return await _until_gone(kin, signal.SIGKILL, KILL_WAIT_S, None)


async def end_whatever_comes(
    end: Callable[[asyncio.Event], Coroutine[None, None, int]], *, meanwhile: Meanwhile
) -> int:
    """What `end` gives, beside something that waits for it; a cancellation only makes it hurry."""
    hurry = asyncio.Event()
    ending = asyncio.create_task(end(hurry))
    try:
        await meanwhile(ending)
    finally:
        hurry.set()
        while not ending.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({ending})
    return ending.result()


async def _until_gone(
    kin: Kin, signum: signal.Signals, limit_s: float, hurry: asyncio.Event | None
) -> list[Process]:
    """Signal what lives, and look again until nothing does or the time is over."""
    now = asyncio.get_running_loop().time
    deadline = now() + limit_s
    asked: set[tuple[int, float]] = set()
    look_s = FIRST_LOOK_S
    while living := kin.living():
        fresh = [process for process in living if (process.pid, process.started) not in asked]
        _signal(living if signum == signal.SIGKILL else fresh, signum)
        asked |= {(process.pid, process.started) for process in fresh}
        if now() >= deadline or (hurry is not None and hurry.is_set()):
            return living
        if not fresh:  # newcomers: look again at once, somebody is still forking
            await _pause(min(look_s, max(deadline - now(), 0)), hurry)
            look_s = min(2 * look_s, LAST_LOOK_S)
        else:
            await asyncio.sleep(0)
    return []


async def _pause(seconds: float, hurry: asyncio.Event | None) -> None:
    """Wait, or less when there is a hurry."""
    if hurry is None:
        await asyncio.sleep(seconds)
        return
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(hurry.wait(), seconds)


def kill_all_below() -> None:
    """KILL everything below this process, for one that ends now and cleans up nothing more."""
    for _ in range(3):  # somebody may be forking
        table = processes.snapshot()
        below = processes.with_descendants([os.getpid()], table) & table.keys() - {os.getpid()}
        living = [pid for pid in below if not table[pid].is_zombie]
        for pid in living:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not living:
            return


def _signal(living: Iterable[Process], signum: signal.Signals) -> None:
    """Send by group, which the kernel does in one step: no member can fork its way out.

    A stopped process acts on TERM only once it is continued. Processes that have ended meanwhile, and
    another user's, are passed over.
    """
    for group in {process.group for process in living} - {os.getpgrp()}:
        for number in (signum, signal.SIGCONT) if signum != signal.SIGKILL else (signum,):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
