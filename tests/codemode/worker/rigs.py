"""A host's side set up for tests: what a script may call, what it printed, what became of its calls."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pi_batch.codemode.values import CallReply, ScriptEnd, ScriptRequest, ToolSignature
from pi_batch.codemode.worker.host import Zygote, can_isolate
from pi_batch.sandboxes.processes import snapshot

ROOT = str(Path(__file__).parents[3])
RUNNER = "tests.codemode.worker.runners"

needs_isolation = pytest.mark.skipif(not can_isolate(), reason="no system-call filters here")


def tool(name: str) -> ToolSignature:
    return ToolSignature(name, ("value",), (), f"{name}(value=None)", "For tests.")


TOOLS = (tool("echo"), tool("wait"), tool("fail"), tool("raise"), tool("big"))


@dataclass
class Rig:
    """The host's callbacks, and what they were told."""

    output: list[str] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[int, str, Mapping[str, Any]]] = field(default_factory=list)
    running: int = 0
    most_running: int = 0
    cancelled: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.output)

    def on_image(self, data: str, mime_type: str) -> None:
        self.images.append((data, mime_type))

    async def on_call(self, call_id: int, name: str, arguments: Mapping[str, Any]) -> CallReply:
        self.calls.append((call_id, name, arguments))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await self._reply(call_id, name, arguments.get("value"))
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)  # as ending a command takes a moment
            self.cancelled.append(call_id)
            raise
        finally:
            self.running -= 1

    async def _reply(self, call_id: int, name: str, value: Any) -> CallReply:
        match name:
            case "wait":
                await asyncio.sleep(60 if value is None else value)
            case "fail":
                return CallReply(call_id, error="it failed", error_kind="failed")
            case "raise":
                raise LookupError("a bug of the host")
            case "big":
                return CallReply(call_id, value="x" * value)
        return CallReply(call_id, value=value)


Script = Callable[..., Awaitable[ScriptEnd]]


@asynccontextmanager
async def zygote(**options: Any) -> AsyncIterator[Zygote]:
    """A zygote with the tests' runner, started and closed."""
    made = Zygote(runner=RUNNER, paths=[ROOT], **options)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


async def run(made: Zygote, source: str, rig: Rig | None = None, **options: Any) -> ScriptEnd:
    """Run a test's script."""
    rig = rig or Rig()
    request = ScriptRequest(source, TOOLS, **options)
    return await made.run(request, rig.on_call, rig.output.append, rig.on_image)


def children() -> set[int]:
    """Everything below this process that has not ended."""
    table = snapshot()
    found = {os.getpid()}
    grows = True
    while grows:
        below = {process.pid for process in table.values() if process.parent in found}
        grows = not below <= found
        found |= below
    return {pid for pid in found - {os.getpid()} if not table[pid].is_zombie}


def pid_of(made: Zygote) -> int:
    """The zygote's process."""
    workers = made._workers
    assert workers is not None
    pid = getattr(workers, "pid", None)
    assert isinstance(pid, int)
    return pid


def reason(end: ScriptEnd) -> str:
    """`Type: text` of a failed script."""
    assert end.status == "failed"
    assert end.error is not None
    return f"{end.error.type}: {end.error.text}"


def kill(pid: int, signum: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signum)
