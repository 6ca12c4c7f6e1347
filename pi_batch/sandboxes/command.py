"""One running command: a child in a session of its own, with one pipe for all that it prints.

asyncio's own subprocesses are not used here, for three reasons. Their transports close the pipe with the
call, so that a background child dies of SIGPIPE; what `wait` waits for (the exit, or the pipes' end too)
and how the exit is seen (a thread per child, or a pidfd) differ between Python 3.11 and 3.14; and they
cost more. This is `subprocess.Popen` with two file descriptors in the event loop.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import errno
import fcntl
import os
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pi_batch.sandboxes.adoption import ADOPTION

CHUNK_BYTES = 64 * 1024
DISCARD_BYTES = 1024 * 1024
"""The most that is thrown away at a time, and the pipe's size while it is."""
DISCARD_PAUSE_S = 0.02
"""Between throwing away: an endless background printer must not take a core of ours as well."""
FIRST_POLL_S = 0.001
LAST_POLL_S = 0.02
"""Between looks at a child where the system has no pidfd, growing."""


class Command:
    """A child process and the reading end of its output.

    The pipe is read for as long as anything holds its other end: by `follow` while the call runs, into
    nothing after `discard`, until `close`.
    """

    def __init__(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> None:
        """Start it. Raises: OSError when it cannot be started (its `filename` says what was missing)."""
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._output, writing_end = os.pipe()
        try:
            self._child = _started(argv, cwd, env, writing_end)
        except BaseException:
            os.close(self._output)
            raise
        finally:
            os.close(writing_end)
        self.pid = self._child.pid
        ADOPTION.commands.add(self.pid)
        self.is_at_end = False
        """True once nothing holds the pipe's other end any more."""
        self._exit: int | None = None
        """A descriptor that turns readable at the exit."""
        self._poll_timer: asyncio.TimerHandle | None = None
        self._discard_timer: asyncio.TimerHandle | None = None
        os.set_blocking(self._output, False)
        self._loop.add_reader(self._output, self._wake.set)
        self._watch_exit()

    @property
    def returncode(self) -> int | None:
        """The exit code, minus the signal that ended it, or None while it runs; reaps it."""
        code = self._child.poll()
        if code is not None:
            ADOPTION.commands.discard(self.pid)
        return code

    async def follow(self, on_output: Callable[[bytes], None], is_over: Callable[[], bool]) -> None:
        """Hand over what is printed until the condition holds; looks at every output and at the exit."""
        while not is_over():
            await self._wake.wait()
            self._wake.clear()
            if chunk := self._read(CHUNK_BYTES):
                on_output(chunk)

    async def follow_until(self, task: asyncio.Task[Any], on_output: Callable[[bytes], None]) -> None:
        """Hand over what is printed until a task is done."""
        task.add_done_callback(lambda _: self._wake.set())
        await self.follow(on_output, task.done)

    async def linger(self, on_output: Callable[[bytes], None], seconds: float) -> None:
        """Hand over what is in the pipe at this moment, then what still comes within a short time.

        What was piped away (`> >(tee log)`) often prints a moment after its shell has ended. A child that
        goes on holds the pipe, so its end cannot be waited for.
        """
        left = array.array("i", [0])
        if not self.is_at_end:
            fcntl.ioctl(self._output, termios.FIONREAD, left)
        available = left[0] + 1  # one more, to see the end
        while available > 0 and (chunk := self._read(min(available, CHUNK_BYTES))):
            available -= len(chunk)
            on_output(chunk)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.follow(on_output, lambda: self.is_at_end)

    def discard(self, on_end: Callable[[], None]) -> None:
        """From now on throw away what is printed, so that nobody blocks on the pipe or dies of it."""
        with contextlib.suppress(OSError, AttributeError):  # Linux alone lets a pipe grow
            fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, DISCARD_BYTES)
        self._loop.add_reader(self._output, self._throw_away, on_end)

    def close(self) -> None:
        """Let go of the pipe and of the child's exit."""
        for timer in (self._poll_timer, self._discard_timer):
            if timer is not None:
                timer.cancel()
        self._end_output()
        self._end_watch()

    def _read(self, limit_bytes: int) -> bytes:
        """What is there now, or nothing."""
        if self.is_at_end:
            return b""
        try:
            chunk = os.read(self._output, limit_bytes)
        except BlockingIOError:
            return b""
        if not chunk:
            self._end_output()
        return chunk

    def _throw_away(self, on_end: Callable[[], None]) -> None:
        for _ in range(DISCARD_BYTES // CHUNK_BYTES):
            if not self._read(CHUNK_BYTES):
                break
        if self.is_at_end:
            on_end()
            return
        self._loop.remove_reader(self._output)
        self._discard_timer = self._loop.call_later(
            DISCARD_PAUSE_S, self._loop.add_reader, self._output, self._throw_away, on_end
        )

    def _end_output(self) -> None:
        if not self.is_at_end:
            self.is_at_end = True
            self._loop.remove_reader(self._output)
            os.close(self._output)

    # --- the exit -----------------------------------------------------------------------------------

    def _watch_exit(self) -> None:
        """Have `follow` woken up when the child ends."""
        try:
            self._exit = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            self._poll_exit(FIRST_POLL_S)
        else:
            self._loop.add_reader(self._exit, self._end_watch)

    def _end_watch(self) -> None:
        if self._exit is not None:
            self._loop.remove_reader(self._exit)
            os.close(self._exit)
            self._exit = None
        self._wake.set()

    def _poll_exit(self, delay_s: float) -> None:
        """The same where there is no pidfd."""
        if self.returncode is None:
            later_s = min(2 * delay_s, LAST_POLL_S)
            self._poll_timer = self._loop.call_later(delay_s, self._poll_exit, later_s)
        else:
            self._wake.set()


def _started(argv: Sequence[str], cwd: str, env: Mapping[str, str], output: int) -> subprocess.Popen[bytes]:
    """The child. Raises: OSError, also for what no system takes (a NUL, a lone surrogate)."""
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    except ValueError as error:
        raise OSError(errno.EINVAL, f"cannot be passed to a program: {error}") from error
