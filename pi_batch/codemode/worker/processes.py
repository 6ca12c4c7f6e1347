"""Workers as processes: forked from a zygote, or each started ahead of need where forks are not usable."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pi_batch.codemode.worker.launch import Launch
from pi_batch.codemode.worker.wire import Ready
from pi_batch.errors import SandboxError

READY_WAIT_S = 30.0
"""How long a zygote may take to be ready; it takes a tenth of a second on an idle machine."""
KILL_WAIT_S = 1.0
"""How long a killed worker may take to be reported before the zygote itself is killed."""
CLOSE_WAIT_S = 2.0
_MESSAGE_BYTES = 4096
_FIRST_POLL_S = 0.001
_LAST_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Ending:
    """How a worker's process ended."""

    signal: int | None
    exit_code: int | None
    cpu_s: float = 0.0
    error: str | None = None
    """Why there is no more to say: it could not be started, or the zygote is gone."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker's process."""

    socket: socket.socket
    """The host's end, not blocking."""
    ended: asyncio.Future[Ending]
    """Done when the process has ended and was reaped."""
    kill: Callable[[], None]


class Workers(Protocol):
    """Where workers come from."""

    @property
    def is_alive(self) -> bool:
        """False when no more worker can come from here."""
        ...

    async def ready(self) -> Ready | None:
        """Wait until a worker can start at once; gives what will hold it, where that is known.

        Raises: SandboxError.
        """
        ...

    def worker(self) -> Worker:
        """The next worker. Raises: SandboxError where its program cannot be started."""
        ...

    async def close(self) -> None:
        """End every process."""
        ...


class Forking:
    """A zygote, as seen from the runner."""

    def __init__(self, launch: Launch) -> None:
        """Start it; must be called in the event loop. Raises: SandboxError."""
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[Ready] = self._loop.create_future()
        self._gone = asyncio.Event()
        self._endings: dict[int, asyncio.Future[Ending]] = {}
        self._last = 0
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        try:
            self._process = launch.start("zygote", theirs)
        except SandboxError:
            self._control.close()
            raise
        finally:
            theirs.close()
        self._loop.add_reader(self._control, self._hear)

    @property
    def is_alive(self) -> bool:
        """False once it has ended."""
        return not self._gone.is_set()

    @property
    def pid(self) -> int:
        """The zygote's."""
        return self._process.pid

    async def ready(self) -> Ready:
        """Wait until it can fork. Raises: SandboxError."""
        try:
            async with asyncio.timeout(READY_WAIT_S):
                return await asyncio.shield(self._ready)
        except TimeoutError:
            self._go()
            raise SandboxError(f"codemode's worker was not ready within {READY_WAIT_S:g} s") from None

    def worker(self) -> Worker:
        """Fork one; when the zygote is gone it has ended already."""
        own, theirs = socket.socketpair()
        own.setblocking(False)
        self._last += 1
        number = self._last
        ended = self._endings[number] = self._loop.create_future()
        with theirs:
            try:
                message = json.dumps({"fork": number}).encode()
                socket.send_fds(self._control, [message], [theirs.fileno()])
            except OSError:
                self._go()
        return Worker(own, ended, lambda: self._kill(number))

    async def close(self) -> None:
        """End it and all its workers; it does so by itself when the socket closes."""
        if self.is_alive and self._ready.done():  # one that is not ready has no worker, and is just killed
            self._control.shutdown(socket.SHUT_WR)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_WAIT_S):
                    await self._gone.wait()
        self._go()

    def _kill(self, number: int) -> None:
        if number in self._endings:
            with contextlib.suppress(OSError):
                self._control.send(json.dumps({"kill": number}).encode())
            self._loop.call_later(KILL_WAIT_S, self._insist, number)

    def _insist(self, number: int) -> None:
        """A zygote that does not do what it is told is killed; its workers die with it."""
        if number in self._endings:
            self._go()

    def _hear(self) -> None:
        """Take all messages that are there."""
        while True:
            try:
                body = self._control.recv(_MESSAGE_BYTES)
            except BlockingIOError:
                return
            except OSError:
                body = b""
            if not body:
                self._go()
                return
            self._take(json.loads(body))

    def _take(self, message: dict[str, Any]) -> None:
        if "ready" in message:
            if not self._ready.done():
                ready = message["ready"]
                self._ready.set_result(Ready(tuple(ready["layers"]), ready["refusal"]))
            return
        ended = self._endings.pop(message.pop("ended"), None)
        if ended is not None and not ended.done():
            ended.set_result(Ending(**message))

    def _go(self) -> None:
        """It has ended, or must: nothing comes from it any more."""
        if not self._gone.is_set():
            self._gone.set()
            self._loop.remove_reader(self._control)
            self._control.close()
            self._process.kill()
            self._process.wait()
        if not self._ready.done():
            self._ready.set_result(Ready((), "its process ended before it was ready"))
        for ended in self._endings.values():
            if not ended.done():
                ended.set_result(Ending(None, None, error="the process that workers come from has ended"))
        self._endings.clear()


class Spawning:
    """Each worker is a program of its own; one is always started ahead."""

    def __init__(self, launch: Launch) -> None:
        """Start the first; must be called in the event loop. Raises: SandboxError."""
        self._loop = asyncio.get_running_loop()
        self._launch = launch
        self._living: set[asyncio.Future[Ending]] = set()
        self._spare: Worker | None = self._spawn()

    @property
    def is_alive(self) -> bool:
        """Always: each worker stands alone."""
        return True

    async def ready(self) -> None:
        """At once: a worker that is not ready yet takes its script when it is."""

    def worker(self) -> Worker:
        """The one that was started ahead; starts the next. Raises: SandboxError."""
        taken = self._spare if self._spare is not None else self._spawn()
        self._spare = None
        if taken.ended.done():
            taken.socket.close()
            taken = self._spawn()
        self._spare = self._spawn()
        return taken

    async def close(self) -> None:
        """End the one that was started ahead, and wait for all."""
        if self._spare is not None:
            self._spare.kill()
            self._spare.socket.close()
            self._spare = None
        if self._living:
            await asyncio.wait(self._living)

    def _spawn(self) -> Worker:
        own, theirs = socket.socketpair()
        own.setblocking(False)
        try:
            process = self._launch.start("child", theirs)
        except SandboxError:
            own.close()
            raise
        finally:
            theirs.close()
        ended: asyncio.Future[Ending] = self._loop.create_future()
        self._living.add(ended)
        ended.add_done_callback(self._living.discard)
        self._watch(process, ended, _FIRST_POLL_S)
        return Worker(own, ended, process.kill)

    def _watch(self, process: subprocess.Popen[bytes], ended: asyncio.Future[Ending], delay_s: float) -> None:
        """Look for its exit; systems without forks have no pidfd either."""
        code = process.poll()
        if code is None:
            self._loop.call_later(delay_s, self._watch, process, ended, min(2 * delay_s, _LAST_POLL_S))
        elif not ended.done():
            ended.set_result(Ending(-code, None) if code < 0 else Ending(None, code))
