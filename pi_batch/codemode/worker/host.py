"""The host's side of all scripts of a run: keeps a zygote ready, runs each script in a worker of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from pi_batch.codemode.values import MAX_CPU_S, ScriptEnd, ScriptError, ScriptRequest
from pi_batch.codemode.worker.conversation import Conversation, OnCall, OnImage, OnOutput
from pi_batch.codemode.worker.launch import RUNNER, Launch
from pi_batch.codemode.worker.processes import Ending, Forking, Spawning, Worker, Workers
from pi_batch.codemode.worker.wire import Ready
from pi_batch.errors import SandboxError
from pi_batch.kernel import seccomp

LEAST_AT_ONCE = 8
"""Workers, however few cores there are: scripts mostly wait for their calls, which may take minutes."""
GONE_WAIT_S = 0.9
"""How long a worker whose socket is closed may take to end, so that its own end is told and not ours."""


def can_isolate() -> bool:
    """Whether the kernel can hold a script here; where not, scripts are for trusted specs, if for any."""
    return seccomp.is_available()


class Zygote:
    """Runs scripts, each in a process that is locked before it sees the script and gone after it.

    One for a whole run, in one event loop. `start` it as soon as a run declares codemode, `close` it at the
    end.
    """

    def __init__(
        self,
        *,
        needs_seccomp: bool = True,
        can_fork: bool = sys.platform == "linux",
        runner: str = RUNNER,
        paths: Sequence[str] = (),
    ) -> None:
        """`needs_seccomp=False` accepts a worker that only is a process of its own, as on macOS."""
        self._launch = Launch(needs_seccomp, runner, paths)
        self._can_fork = can_fork
        self._workers: Workers | None = None
        self._slots = asyncio.Semaphore(max(LEAST_AT_ONCE, os.cpu_count() or 1))
        self.layers: tuple[str, ...] = ()
        """What holds the scripts, by the names of `lockdown`, as soon as it is known."""

    def warm(self) -> None:
        """Start the zygote, and leave it to become ready. Raises: SandboxError."""
        self._living()

    async def start(self) -> None:
        """The same."""
        self.warm()

    async def ready(self) -> tuple[str, ...]:
        """Wait until a script can start at once; gives the layers.

        Raises: SandboxError when no script can run here, which says why.
        """
        ready = await self._living().ready()
        if ready is not None:
            self._learn(ready)
            if ready.refusal is not None:
                raise SandboxError(f"codemode is not available: {ready.refusal}")
        return self.layers

    async def run(
        self,
        request: ScriptRequest,
        on_call: OnCall,
        on_output: OnOutput,
        on_image: OnImage,
    ) -> ScriptEnd:
        """Run a script; when this returns or raises, its process is gone and none of its calls is running.

        `on_call` gets a call's number, tool and arguments, and its reply goes back to the script; calls run
        side by side, up to the request's limit. `on_output` and `on_image` get what comes, as it comes.

        Raises: SandboxError when no script can run here; what the callbacks raise.
        """
        async with self._slots:
            for is_last_try in (False, True):
                await self._ready_again()
                worker = self._living().worker()
                conversation = Conversation(
                    worker.socket, request, on_call=on_call, on_output=on_output, on_image=on_image
                )
                end = await _held(worker, conversation)
                if conversation.ready is not None:
                    self._learn(conversation.ready)
                elif end is None and not is_last_try:
                    continue  # it died before it saw anything of the script
                return end if end is not None else _death(worker.ended.result())
        raise AssertionError  # the second try returns

    async def close(self) -> None:
        """End every process."""
        if self._workers is not None:
            await self._workers.close()
            self._workers = None

    def _living(self) -> Workers:
        if self._workers is None or not self._workers.is_alive:
            self._workers = Forking(self._launch) if self._can_fork else Spawning(self._launch)
        return self._workers

    async def _ready_again(self) -> None:
        """Wait for the zygote; one that died meanwhile is started once more."""
        try:
            await self.ready()
        except SandboxError:
            if self._workers is not None and self._workers.is_alive:
                raise
            await self.ready()

    def _learn(self, ready: Ready) -> None:
        self.layers = ready.layers or self.layers


async def _held(worker: Worker, conversation: Conversation) -> ScriptEnd | None:
    """Talk, and leave nothing behind."""
    try:
        end = await conversation.talk()
        if end is None:
            await asyncio.wait({worker.ended}, timeout=GONE_WAIT_S)
            if not worker.ended.done():
                end = _failed("WorkerError", "the script's process closed its connection and went on")
        return end
    finally:
        worker.kill()
        try:
            await conversation.settle(worker.ended)
        finally:
            worker.socket.close()


def _death(ending: Ending) -> ScriptEnd:
    """For the model: why the worker ended without a word."""
    if ending.error is not None:
        return _failed("WorkerError", f"the script's process could not go on: {ending.error}")
    if ending.signal == signal.SIGXCPU or (ending.signal == signal.SIGKILL and ending.cpu_s >= MAX_CPU_S):
        return _failed("TimeoutError", f"the script used more than {MAX_CPU_S} s of CPU time")
    if ending.signal == signal.SIGKILL:
        return _failed(
            "MemoryError", "the script's process was killed: this machine has no memory left for it"
        )
    if ending.signal is not None:
        known = ending.signal in set(signal.Signals)
        name = signal.Signals(ending.signal).name if known else f"signal {ending.signal}"
        text = f"the script crashed its process ({name}), most often by nesting or recursing too deeply"
        return _failed("WorkerError", text)
    return _failed("WorkerError", f"the script's process ended by itself (exit code {ending.exit_code})")


def _failed(kind: str, text: str) -> ScriptEnd:
    return ScriptEnd("failed", error=ScriptError(kind, text))
