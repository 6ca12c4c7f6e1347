"""No isolation: commands and files of this machine, with every process accounted for."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
from collections.abc import Callable, Mapping, Sequence

from pi_batch.errors import SandboxError
from pi_batch.protocols import Completed, DirEntry, FileStat
from pi_batch.sandboxes import local_files, marks
from pi_batch.sandboxes.adoption import ADOPTION, has_children
from pi_batch.sandboxes.command import Command
from pi_batch.sandboxes.ending import Kin, Meanwhile, end_whatever_comes
from pi_batch.sandboxes.marks import MAX_NUMBER, Mark

GRACE_S = 2.0
"""Between TERM and KILL."""
LINGER_S = 0.1
"""What a child that outlives its command may still print into the result."""

_TASK_NUMBERS = itertools.count()
_logger = logging.getLogger(__name__)


class NoneSandbox:
    """The Sandbox protocol on the bare machine; `layers` is empty, and reports say so.

    Commands run as this process's own user. What a call leaves running goes on until `close`, which ends
    everything that the task ever started, also what left its session and cleared its environment. What
    it prints after its call has returned is read and thrown away.
    """

    name = "none"
    layers: tuple[str, ...] = ()

    def __init__(self, *, grace_s: float = GRACE_S, linger_s: float = LINGER_S) -> None:
        self._grace_s = grace_s
        self._linger_s = linger_s
        self._task = next(_TASK_NUMBERS) % MAX_NUMBER + 1
        self._calls = itertools.count()
        self._leaders: set[int] = set()
        """Pids of all calls, which are their sessions' ids."""
        self._left_running: set[Command] = set()
        """Commands whose output somebody still holds after their call."""
        self._is_open = False

    async def start(self) -> None:
        """Take over the parentage of orphans. Never fails."""
        if not self._is_open:
            self._is_open = True
            ADOPTION.acquire()

    async def close(self) -> None:
        """End every process of the task: TERM, grace, KILL; when cancelled, at once and still all of them."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            if self._leaders and (has_children() or not ADOPTION.is_active):
                mark = Mark(marks.runner_id(), self._task, 0)
                kin = Kin(mark, self._leaders, takes_strays=ADOPTION.is_last)
                await self._end(kin, lambda ending: asyncio.wait({ending}))
        finally:
            for command in list(self._left_running):
                self._forget(command)
            ADOPTION.release()

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Completed:
        """Run a command; see the protocol. `on_output` is never called after this has returned.

        Raises: SandboxError when the sandbox is not open; OSError when the command cannot be started.
        """
        if not self._is_open:
            raise SandboxError("none: the sandbox is not open")
        now = asyncio.get_running_loop().time
        started = now()
        mark = Mark(marks.runner_id(), self._task, next(self._calls) % MAX_NUMBER + 1)
        with marks.inherited(mark):
            command = Command(argv, cwd=cwd, env={**env, **mark.variables})
        ADOPTION.take_marks_off_others(mark)
        self._leaders.add(command.pid)
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

    async def _finish(
        self, command: Command, mark: Mark, timeout_s: float, on_output: Callable[[bytes], None]
    ) -> bool:
        """Wait for the exit, or end the call; True when the time limit did."""

        def has_exited() -> bool:
            return command.returncode is not None

        timed_out = False
        try:
            async with asyncio.timeout(timeout_s if math.isfinite(timeout_s) else None) as limit:
                await command.follow(on_output, has_exited)
        except BaseException as error:
            timed_out = isinstance(error, TimeoutError) and limit.expired()
            if not (timed_out and has_exited()):
                kin = Kin(mark, [command.pid])
                await self._end(kin, lambda ending: command.follow_until(ending, on_output))
            if not timed_out:
                raise
        await command.linger(on_output, 0 if timed_out else self._linger_s)
        return timed_out

    async def _end(self, kin: Kin, meanwhile: Meanwhile) -> None:
        """End processes; what cannot be ended (another user's, one that hangs in the kernel) is logged."""
        for process in await end_whatever_comes(kin, grace_s=self._grace_s, meanwhile=meanwhile):
            _logger.warning("process %d of task %d could not be ended", process.pid, self._task)

    def _let_go(self, command: Command) -> None:
        """After a call: keep reading for as long as somebody holds the pipe."""
        if command.is_at_end or not self._is_open:
            command.close()
        else:
            self._left_running.add(command)
            command.discard(lambda: self._forget(command))

    def _forget(self, command: Command) -> None:
        self._left_running.discard(command)
        command.close()

    async def resolve(self, path: str) -> str:
        """The real path; see the protocol. Raises: OSError when links go in a circle."""
        return local_files.resolve(path)

    async def stat(self, path: str) -> FileStat | None:
        """What is there, links followed."""
        return local_files.stat_file(path)

    async def read(self, path: str, *, offset: int = 0, limit_bytes: int | None = None) -> bytes:
        """Bytes of a regular file; everything else is refused. Raises: OSError."""
        return local_files.read(path, offset, limit_bytes)

    async def write(self, path: str, content: bytes) -> None:
        """Replace a file's content, or make it; see `local_files.write`. Raises: OSError."""
        local_files.write(path, content)

    async def list(self, path: str) -> list[DirEntry]:
        """A directory's entries by name. Raises: OSError."""
        return local_files.list_directory(path)
