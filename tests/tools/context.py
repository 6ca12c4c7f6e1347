"""A ToolContext that is no engine: a real directory, any sandbox, outputs kept in memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pi_batch.errors import ToolError
from pi_batch.messages import ToolCall
from pi_batch.protocols import Sandbox, Tool, ToolContext, ToolOutput
from pi_batch.tools.declare import parse_arguments

PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass
class MemoryOutput:
    """A file in outputs/ whose content is looked at."""

    path: str
    content: bytes = b""
    is_closed: bool = False

    def write(self, data: bytes) -> None:
        self.content += data

    def close(self) -> None:
        self.is_closed = True


@dataclass
class FakeContext:
    """Implements `protocols.ToolContext`; what a tool did with it stays to be looked at."""

    sandbox: Sandbox
    workspace: str
    scratch: str
    outputs_dir: str = ""
    """A directory outside the workspace that may be read; empty: none."""
    env: Mapping[str, str] = field(default_factory=lambda: {"PATH": PATH, "LANG": "C.UTF-8"})
    call_id: str = "call_1"
    seconds_left: float = math.inf
    is_inner: bool = False
    updates: list[str] = field(default_factory=list)
    outputs: list[MemoryOutput] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    def open_output(self, suffix: str) -> MemoryOutput:
        output = MemoryOutput(f"{self.outputs_dir or '/outputs'}/{self.call_id}-{len(self.outputs)}{suffix}")
        self.outputs.append(output)
        return output

    async def resolve(self, path: str, *, for_writing: bool) -> str:
        if "\0" in path:
            raise ToolError("The path holds a NUL byte: give a real path.")
        try:
            real = await self.sandbox.resolve(str(Path(self.workspace) / path))
        except OSError as error:
            raise ToolError(f"{path}: {error.strerror}") from error
        roots = [self.workspace, *([] if for_writing or not self.outputs_dir else [self.outputs_dir])]
        if any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots):
            return real
        raise ToolError(f"{path}: outside the workspace.")

    def update(self, text: str) -> None:
        self.updates.append(text)

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        self.calls.append(ToolCall(f"{self.call_id}.{len(self.calls) + 1}", name, arguments))
        return ToolOutput(())


async def call(tool: Tool, context: ToolContext, /, **arguments: Any) -> ToolOutput:
    """Call a tool as the engine does: arguments through its schema."""
    return await tool.run(parse_arguments(tool, arguments), context)


async def failure(tool: Tool, context: ToolContext, /, **arguments: Any) -> str:
    """The text of the error that a call must end with."""
    try:
        output = await call(tool, context, **arguments)
    except ToolError as error:
        return str(error)
    raise AssertionError(f"no error, but: {text_of(output)!r}")


def text_of(output: ToolOutput) -> str:
    """What the model reads."""
    return "\n".join(getattr(block, "text", "[image]") for block in output.content)
