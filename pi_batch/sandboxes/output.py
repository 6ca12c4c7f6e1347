"""What a running command prints: one pipe, read for as long as anything holds its other end."""

from __future__ import annotations

import array
import asyncio
import contextlib
import fcntl
import os
import termios
from collections.abc import Callable
from typing import Any

CHUNK_BYTES = 64 * 1024
DISCARD_BYTES = 1024 * 1024
"""The most that is thrown away at a time, and the pipe's size while it is."""
DISCARD_PAUSE_S = 0.02
"""Between throwing away: an endless background printer must not take a core of ours as well."""


class Output:
    """The reading end of a command's output.

    It is read by `follow` while the call runs, into nothing after `discard`, until `close`.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._pipe, self.writing_end = os.pipe()
        """The writing end is the caller's to close once the command has it."""
        self.is_at_end = False
        """True once nothing holds the pipe's other end any more."""
        self._discard_timer: asyncio.TimerHandle | None = None
        os.set_blocking(self._pipe, False)
        self._loop.add_reader(self._pipe, self._wake.set)

    def wake(self) -> None:
        """Have `follow` look again at what it waits for."""
        self._wake.set()

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
            fcntl.ioctl(self._pipe, termios.FIONREAD, left)
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
            fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, DISCARD_BYTES)
        self._loop.add_reader(self._pipe, self._throw_away, on_end)

    def close(self) -> None:
        """Let go of the pipe."""
        if self._discard_timer is not None:
            self._discard_timer.cancel()
        if not self.is_at_end:
            self.is_at_end = True
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)

    def _read(self, limit_bytes: int) -> bytes:
        """What is there now, or nothing."""
        if self.is_at_end:
            return b""
        try:
            chunk = os.read(self._pipe, limit_bytes)
        except BlockingIOError:
            return b""
        if not chunk:
            self.close()
        return chunk

    def _throw_away(self, on_end: Callable[[], None]) -> None:
        for _ in range(DISCARD_BYTES // CHUNK_BYTES):
            if not self._read(CHUNK_BYTES):
                break
        if self.is_at_end:
            on_end()
            return
        self._loop.remove_reader(self._pipe)
        self._discard_timer = self._loop.call_later(
            DISCARD_PAUSE_S, self._loop.add_reader, self._pipe, self._throw_away, on_end
        )
