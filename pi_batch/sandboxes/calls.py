"""The calls of one sandbox: how each is followed, ended in time, and let go of."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
from collections.abc import Callable, Coroutine, Iterable
from typing import Protocol

from pi_batch.protocols import Completed
from pi_batch.sandboxes import marks
from pi_batch.sandboxes.adoption import ADOPTION
from pi_batch.sandboxes.ending import Kin, Meanwhile, end, end_whatever_comes
from pi_batch.sandboxes.marks import MAX_NUMBER, Mark
from pi_batch.sandboxes.output import Output

GRACE_S = 2.0
"""Between TERM and KILL."""
LINGER_S = 0.1
"""What a child that outlives its command may still print into the result."""

_TASK_NUMBERS = itertools.count()
_logger = logging.getLogger(__name__)


class Running(Protocol):
    """A command that was started, here or by a porter."""

    output: Output

    @property
    def leaders(self) -> tuple[int, ...]:
        """The session that it leads, where its pid is known."""
        ...

    @property
    def returncode(self) -> int | None:
        """The exit code, minus the signal that ended it, or None while it runs."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


EndInside = Callable[[Mark, float, asyncio.Event], Coroutine[None, None, int]]
"""Ends what carries a mark, with a grace, cut short by a hurry; how many processes could not be ended."""


class Calls:
    """Follows commands; what a call leaves running is remembered until `end_all`."""

    def __init__(
        self,
        *,
        grace_s: float = GRACE_S,
        linger_s: float = LINGER_S,
        end_inside: EndInside | None = None,
    ) -> None:
        self._end_inside = end_inside
        """How, where the processes are not this machine's own to be seen; None: they are."""
        self._grace_s = grace_s
        self._linger_s = linger_s
        self._task = next(_TASK_NUMBERS) % MAX_NUMBER + 1
        self._numbers = itertools.count()
        self._left_running: set[Running] = set()
        """Commands whose output somebody still holds after their call."""
        self.is_open = False

    @property
    def task_mark(self) -> Mark:
        """What all processes of this sandbox carry."""
        return Mark(marks.runner_id(), self._task, 0)

    def next_mark(self) -> Mark:
        """The mark of one more call."""
        return Mark(marks.runner_id(), self._task, next(self._numbers) % MAX_NUMBER + 1)

    async def run(
        self, command: Running, mark: Mark, timeout_s: float, on_output: Callable[[bytes], None]
    ) -> Completed:
        """See a command through to its exit, or end the call. `on_output` is never called afterwards."""
        now = asyncio.get_running_loop().time
        started = now()
        try:
            timed_out = await self._finish(command, mark, timeout_s, on_output)
        finally:
            code = command.returncode
            self._let_go(command)
            ADOPTION.reap_ended()
        return Completed(
            exit_code=None if timed_out or code is None or code < 0 else code,
            signal=-code if code is not None and code < 0 else None,
            timed_out=timed_out,
            duration_s=now() - started,
        )

    async def end_call(self, mark: Mark) -> None:
        """End what a call has started so far."""
        await self._end(Kin(mark, ()), lambda ending: asyncio.wait({ending}))

    async def end_all(self, leaders: Iterable[int] = ()) -> None:
        """End every process of the task: TERM, grace, KILL; when cancelled, at once and still all of them."""
        kin = Kin(self.task_mark, leaders, takes_strays=ADOPTION.is_last)
        await self._end(kin, lambda ending: asyncio.wait({ending}))

    def pids(self) -> tuple[int, ...]:
        """The task's processes that this machine sees."""
        return tuple(process.pid for process in Kin(self.task_mark, ()).living())

    def forget_all(self) -> None:
        """Let go of what was left running."""
        for command in list(self._left_running):
            self._forget(command)

    async def _finish(
        self, command: Running, mark: Mark, timeout_s: float, on_output: Callable[[bytes], None]
    ) -> bool:
        """Wait for the exit, or end the call; True when the time limit did."""

        def has_exited() -> bool:
            return command.returncode is not None

        output = command.output
        timed_out = False
        try:
            async with asyncio.timeout(timeout_s if math.isfinite(timeout_s) else None) as limit:
                await output.follow(on_output, has_exited)
        except BaseException as error:
            timed_out = isinstance(error, TimeoutError) and limit.expired()
            if not (timed_out and has_exited()):
                kin = Kin(mark, command.leaders)
                await self._end(kin, lambda ending: output.follow_until(ending, on_output))
            if not timed_out:
                raise
        await output.linger(on_output, 0 if timed_out else self._linger_s)
        return timed_out

    async def _end(self, kin: Kin, meanwhile: Meanwhile) -> None:
        """End processes; what cannot be ended (another user's, one that hangs in the kernel) is logged."""
        left = await end_whatever_comes(lambda hurry: self._ending(kin, hurry), meanwhile=meanwhile)
        if left:
            _logger.warning("%d processes of task %d could not be ended", left, self._task)

    async def _ending(self, kin: Kin, hurry: asyncio.Event) -> int:
        """End processes; how many could not be."""
        if self._end_inside is not None:
            return await self._end_inside(kin.mark, self._grace_s, hurry)
        return len(await end(kin, grace_s=self._grace_s, hurry=hurry))

    def _let_go(self, command: Running) -> None:
        """After a call: keep reading for as long as somebody holds the pipe."""
        if command.output.is_at_end or not self.is_open:
            command.close()
        else:
            self._left_running.add(command)
            command.output.discard(lambda: self._forget(command))

    def _forget(self, command: Running) -> None:
        self._left_running.discard(command)
        command.close()
