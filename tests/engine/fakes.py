"""Small stand-ins for what the engine is given: a session in memory, tools of a few lines, a door."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct, ValidationError, convert

from pi_batch.arguments import ToolArguments
from pi_batch.budget import Ledger
from pi_batch.engine.tool_calls import Door
from pi_batch.errors import LogWriteError, ToolError
from pi_batch.events import Event
from pi_batch.messages import Message, SystemMessage, TextBlock, ToolCall, Usage
from pi_batch.protocols import OutputFile, Sandbox, Tool, ToolContext, ToolOutput
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts
from tests.clocks import FakeClock


class MemorySession:
    """A session log that keeps its entries; fails on demand."""

    session_id = "session-1"

    def __init__(self, fails_after: int | None = None) -> None:
        self.messages: list[Message] = []
        self.customs: list[Mapping[str, Any]] = []
        self.compactions: list[tuple[str, str, Usage | None]] = []
        self.order: list[str] = []
        self._fails_after = fails_after
        self._ids = itertools.count(1)

    def _append(self, what: str) -> str:
        if self._fails_after is not None and len(self.order) >= self._fails_after:
            raise LogWriteError("session.jsonl: cannot be written: No space left on device")
        self.order.append(what)
        return f"{next(self._ids):08x}"

    def append_message(self, message: Message) -> str:
        entry_id = self._append(message.role)
        self.messages.append(message)
        return entry_id

    def append_custom(self, custom_type: str, value: Mapping[str, Any]) -> str:
        entry_id = self._append(str(value.get("kind", custom_type)))
        self.customs.append(value)
        return entry_id

    def append_model_change(self, provider: str, model: str) -> str:
        return self._append(f"model {provider}/{model}")

    def append_thinking_level_change(self, level: str) -> str:
        return self._append(f"thinking {level}")

    def append_session_info(self, name: str) -> str:
        return self._append(f"name {name}")

    def append_compaction(
        self,
        summary: str,
        first_kept_entry_id: str | None,
        tokens_before: int,
        details: Mapping[str, Any] | None = None,
        *,
        system: SystemMessage | None = None,
        usage: Usage | None = None,
        cost_usd: float | None = None,
    ) -> str:
        entry_id = self._append("compaction")
        self.compactions.append((summary, first_kept_entry_id or entry_id, usage))
        return entry_id

    def append_usage(self, kind: str, provider: str, model: str, usage: Usage, cost_usd: float | None) -> str:
        return self._append(f"usage {kind}")

    def close(self) -> None:
        self.order.append("close")


class Arguments(ToolArguments, frozen=True, kw_only=True):
    """What the fake tools take."""

    path: str = ""
    text: str = ""


@dataclass
class FakeTool:
    """A tool made of one function."""

    name: str
    action: Callable[[Arguments, ToolContext], Any]
    is_read_only: bool = True
    returns: str = "str"
    description: str = "A tool."
    arguments: type[Struct] = Arguments

    def written_paths(self, arguments: Any) -> tuple[str, ...]:
        return (arguments.path,) if not self.is_read_only and arguments.path else ()

    async def run(self, arguments: Any, context: ToolContext) -> ToolOutput:
        outcome = self.action(arguments, context)
        if asyncio.iscoroutine(outcome):
            outcome = await outcome
        return outcome if isinstance(outcome, ToolOutput) else ToolOutput((TextBlock(str(outcome)),))


def parse(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    try:
        return convert(arguments, tool.arguments)
    except ValidationError as error:
        raise ToolError(str(error), error_kind="invalid_arguments") from error


class AllowAll:
    """Refuses nothing."""

    def refusal(self, tool: str, arguments: Any, paths: Sequence[str]) -> tuple[str, str] | None:
        return None


class DenyPaths:
    """Refuses any call that touches a path with this ending."""

    def __init__(self, ending: str) -> None:
        self._ending = ending

    def refusal(self, tool: str, arguments: Any, paths: Sequence[str]) -> tuple[str, str] | None:
        if any(path.endswith(self._ending) for path in paths):
            return f"deny {self._ending}", f"{tool}: denied by rule {self._ending}"
        return None


class PathSandbox:
    """Only resolves paths: enough for the door; `..` is folded, /link leads out."""

    name = "fake"
    layers: tuple[str, ...] = ()

    async def resolve(self, path: str) -> str:
        if "loop" in path:
            raise OSError(40, "Too many levels of symbolic links", path)
        parts: list[str] = []
        for part in path.split("/"):
            if part == "..":
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return "/etc" if parts[-1:] == ["link"] else "/" + "/".join(parts)


@dataclass
class Fixture:
    """A door and what went through it."""

    door: Door
    events: list[Event] = field(default_factory=list)


def make_door(
    *tools: FakeTool,
    limit: BudgetAmounts | None = None,
    rules: Any = None,
    secrets: Sequence[str] = (),
    clock: FakeClock | None = None,
    ledger: Ledger | None = None,
    open_output: Callable[[str], OutputFile] | None = None,
) -> Fixture:
    clock = clock or FakeClock()
    events: list[Event] = []

    def no_output(name: str) -> OutputFile:
        raise AssertionError(f"no output file was expected: {name}")

    sandbox: Any = PathSandbox()
    typed_sandbox: Sandbox = sandbox
    door = Door(
        tools={tool.name: tool for tool in tools},
        parse=parse,
        rules=rules or AllowAll(),
        sandbox=typed_sandbox,
        workspace="/w",
        outputs_dir="/run/outputs",
        open_output=open_output or no_output,
        env={},
        scratch="/scratch",
        ledger=ledger or Ledger(limit or BudgetAmounts(), clock),
        mask=Masker(secrets),
        emit=events.append,
        clock=clock,
    )
    return Fixture(door, events)


def call(name: str, call_id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments)
