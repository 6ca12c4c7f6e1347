"""A script runner that is no process: a "script" is a coroutine of the test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pi_batch.codemode.runner import OnCall, OnImage, OnOutput
from pi_batch.codemode.values import CallReply, ScriptEnd, ScriptError, ScriptRequest, ToolSignature

READ = ToolSignature("read", ("path",), ("path",), "read(path: str) -> str", "Read a file.")
DONE = ScriptEnd("completed")


@dataclass
class World:
    """What a fake script can do."""

    request: ScriptRequest
    on_call: OnCall
    on_output: OnOutput
    on_image: OnImage
    calls: int = 0

    async def call(self, name: str, **arguments: Any) -> CallReply:
        self.calls += 1
        return await self.on_call(self.calls, name, arguments)


Script = Callable[[World], Awaitable[ScriptEnd]]


async def silent(_world: World) -> ScriptEnd:
    return DONE


@dataclass
class FakeRunner:
    """Implements `codemode.runner.ScriptRunner`."""

    script: Script = silent
    layers: tuple[str, ...] = ("process", "seccomp")
    requests: list[ScriptRequest] = field(default_factory=list)

    async def run(
        self, request: ScriptRequest, on_call: OnCall, on_output: OnOutput, on_image: OnImage
    ) -> ScriptEnd:
        self.requests.append(request)
        return await self.script(World(request, on_call, on_output, on_image))


def failed(kind: str, text: str) -> ScriptEnd:
    return ScriptEnd("failed", error=ScriptError(kind, text))


def prints(text: str, **end: Any) -> Script:
    """A script that prints and ends well."""

    async def script(world: World) -> ScriptEnd:
        world.on_output(text)
        return ScriptEnd("completed", **end)

    return script


def keeps(values: Mapping[str, Any]) -> Script:
    """A script that stores."""

    async def script(_world: World) -> ScriptEnd:
        return ScriptEnd("completed", store=values)

    return script
