"""The one door through which every tool call goes, a model's own and a script's alike.

Look up, parse, permit, charge, queue, run, mask: in this order, and each refusal is an error result that
says what to do. Nothing else in the program runs a tool.
"""

from __future__ import annotations

import asyncio
import difflib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from math import isinf
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from pi_batch.budget import BudgetExhausted, Ledger
from pi_batch.engine.context import clean_text
from pi_batch.engine.masking import Mask
from pi_batch.errors import ToolError, ToolErrorKind
from pi_batch.events import Event, ToolExecutionEnd, ToolExecutionStart, ToolExecutionUpdate
from pi_batch.messages import TextBlock, ToolCall, ToolResultMessage
from pi_batch.protocols import Clock, OutputFile, Sandbox, Tool, ToolOutput
from pi_batch.results import PermissionDenial
from pi_batch.text import one_line

Emit = Callable[[Event], None]

UPDATE_CHARS = 200
TIME_UP_GRACE_S = 3.0
"""How long a tool that keeps time itself may take to give its partial result."""


class Rules(Protocol):
    """What the permissions say to a call whose arguments are in order."""

    def refusal(self, tool: str, arguments: Any, paths: Sequence[str]) -> tuple[str, str] | None:
        """(rule, reason for the model) of a refusal, or None. Paths are real and absolute."""
        ...


class Door(Struct, frozen=True):
    """What all calls of one task share."""

    tools: Mapping[str, Tool]
    parse: Callable[[Tool, Mapping[str, Any]], Any]
    """Arguments as the tool's model; raises ToolError(invalid_arguments)."""
    rules: Rules
    sandbox: Sandbox
    workspace: str
    outputs_dir: str
    open_output: Callable[[str], OutputFile]
    """A new file in outputs/ by name."""
    env: Mapping[str, str]
    scratch: str
    ledger: Ledger
    mask: Mask
    emit: Emit
    clock: Clock
    script_tool: str = ""
    """The tool that runs scripts; no script may call it."""
    script_only: frozenset[str] = frozenset()
    """Tools that only scripts may call: the model was not told of them."""
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    """One per real path that is written."""
    outputs: Counter[str] = field(default_factory=Counter)
    """How many files in outputs/ were named after a call's id: services use ids again."""

    async def execute(self, call: ToolCall, parent_id: str | None = None) -> tuple[ToolResultMessage, Any]:
        """Carry one call out, or refuse it; the result message and the value for scripts."""
        started_s = self.clock.monotonic()
        arguments = self.mask.mask_json(dict(call.arguments or {}))
        self.emit(ToolExecutionStart(call.id, call.name, arguments, parent_id))
        end = ToolExecutionEnd(call.id, call.name, is_error=True, parent_tool_call_id=parent_id)
        try:
            output, rule = await self._outcome(call, parent_id)
            result = self._result(call, output)
            end = replace(
                end,
                is_error=output.is_error,
                error_kind=output.error_kind,
                denial=None if rule is None else PermissionDenial(call.name, call.id, arguments, rule),
                result_bytes=_size(result),
                layers=output.layers,
            )
        except asyncio.CancelledError:
            end = replace(end, error_kind="failed")
            raise
        finally:  # cancelled, or a defect of ours: the start still has its end
            self.emit(replace(end, duration_s=round(self.clock.monotonic() - started_s, 3)))
        return result, self.mask.mask_json(output.value)

    def refuse(self, call: ToolCall, reason: str, kind: ToolErrorKind = "not_run") -> ToolResultMessage:
        """The error result of a call that is not carried out; `failed`: that may have been, in part."""
        self.emit(ToolExecutionStart(call.id, call.name, self.mask.mask_json(dict(call.arguments or {}))))
        self.emit(ToolExecutionEnd(call.id, call.name, is_error=True, error_kind=kind))
        return self.error(call, reason, kind)

    def error(self, call: ToolCall, reason: str, kind: ToolErrorKind) -> ToolResultMessage:
        """An error result, without a word in the stream."""
        return self._result(call, _error(reason, kind))

    async def _outcome(self, call: ToolCall, parent_id: str | None) -> tuple[ToolOutput, str | None]:
        """What came of a call, refusals included, with the rule of one that was denied."""
        try:
            return await self._admit_and_run(call, parent_id), None
        except _Denied as refused:
            return _error(str(refused), "denied"), refused.rule
        except ToolError as error:
            return _error(str(error), error.error_kind), None

    async def _admit_and_run(self, call: ToolCall, parent_id: str | None) -> ToolOutput:
        tool = self._tool(call, is_inner=parent_id is not None)
        arguments = self.parse(tool, _arguments(call))
        context = CallContext(self, call.id, parent_id)
        paths = [await context.resolve(path, for_writing=True) for path in tool.written_paths(arguments)]
        self._permit(call.name, arguments, await self._touched(context, arguments, paths))
        try:
            self.ledger.charge_tool_call()
        except BudgetExhausted as error:
            raise ToolError(f"Not run: {error}", error_kind="not_run") from error
        async with self._queue(paths):
            return await self._run(tool, arguments, context)

    def _tool(self, call: ToolCall, *, is_inner: bool) -> Tool:
        hidden = {self.script_tool} if is_inner else self.script_only
        offered = {name: tool for name, tool in self.tools.items() if name not in hidden}
        tool = offered.get(call.name)
        if tool is not None:
            return tool
        near = difflib.get_close_matches(call.name, offered, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        names = ", ".join(offered)
        if call.name in hidden and not is_inner:
            hint = f" It is called by scripts only: `await tools.{call.name}(...)` in {self.script_tool}."
        raise ToolError(
            f"Unknown tool {call.name[:64]!r}.{hint} The tools are: {names}.", error_kind="unknown_tool"
        )

    async def _touched(self, context: CallContext, arguments: Any, written: Sequence[str]) -> Sequence[str]:
        """The real paths that a call names: those it writes, or the one it reads."""
        path = getattr(arguments, "path", None)
        if written or not isinstance(path, str):
            return written
        return [await context.resolve(path, for_writing=False)]

    def _permit(self, name: str, arguments: Any, paths: Sequence[str]) -> None:
        refusal = self.rules.refusal(name, arguments, paths)
        if refusal is not None:
            rule, reason = refusal
            raise _Denied(reason, rule)

    async def _run(self, tool: Tool, arguments: Any, context: CallContext) -> ToolOutput:
        """Run within the wall time left; what does not end by itself then is ended."""
        left_s = self.ledger.seconds_left
        try:
            async with asyncio.timeout(None if isinf(left_s) else left_s + TIME_UP_GRACE_S):
                return await tool.run(arguments, context)
        except TimeoutError as error:
            raise ToolError("Ended: the wall time of this task is used up.", error_kind="timeout") from error
        except OSError as error:
            raise ToolError(f"{error.filename or tool.name}: {error.strerror or error}") from error

    @asynccontextmanager
    async def _queue(self, paths: Sequence[str]) -> AsyncIterator[None]:
        """Hold the lock of each path, in one order for all, so that writers of a file never overlap."""
        held = [self.locks.setdefault(path, asyncio.Lock()) for path in sorted(set(paths))]
        for count, lock in enumerate(held):
            try:
                await lock.acquire()
            except BaseException:
                for earlier in held[:count]:
                    earlier.release()
                raise
        try:
            yield
        finally:
            for lock in held:
                lock.release()

    def _result(self, call: ToolCall, output: ToolOutput) -> ToolResultMessage:
        """What enters the history: masked here, so that live and resumed runs see the same."""
        content = tuple(
            TextBlock(clean_text(self.mask.mask(block.text))) if isinstance(block, TextBlock) else block
            for block in output.content
        )
        if not any(not isinstance(block, TextBlock) or block.text.strip() for block in content):
            content = (TextBlock("(no output)"),)
        details = dict(self.mask.mask_json(dict(output.details)))
        if output.error_kind is not None:
            details["error_kind"] = output.error_kind
        return ToolResultMessage(
            call.id,
            call.name,
            content,
            is_error=output.is_error,
            error_kind=output.error_kind,
            details=details,
            timestamp_ms=int(self.clock.time() * 1000),
        )


class CallContext:
    """What one running call may touch; implements `protocols.ToolContext`."""

    def __init__(self, door: Door, call_id: str, parent_id: str | None) -> None:
        self.sandbox = door.sandbox
        self.workspace = door.workspace
        self.env = door.env
        self.scratch = door.scratch
        self.call_id = call_id
        self.is_inner = parent_id is not None
        self._door = door
        self._count = 0

    @property
    def seconds_left(self) -> float:
        """What the task's wall time leaves; infinite without a limit."""
        return self._door.ledger.seconds_left

    def open_output(self, suffix: str) -> OutputFile:
        """A new file in outputs/, named after this call."""
        name = "".join(char if char.isalnum() or char in "-_" else "_" for char in self.call_id)[:80]
        self._door.outputs[name] += 1
        return self._door.open_output(f"{name}-{self._door.outputs[name]}{suffix}")

    async def resolve(self, path: str, *, for_writing: bool) -> str:
        """A model's path as an absolute real path inside the workspace, or for reading in outputs/.

        Raises: ToolError when it lies outside or holds a NUL.
        """
        if "\0" in path:
            raise ToolError("The path holds a NUL byte: give a real path.")
        try:
            real = await self.sandbox.resolve(str(Path(self.workspace) / path))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ToolError(f"{clean_text(path)}: {reason}") from error
        roots = [self.workspace] if for_writing else [self.workspace, self._door.outputs_dir]
        if any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots):
            return real
        raise ToolError(f"{path}: outside the workspace. Use a path inside {self.workspace}.")

    def update(self, text: str) -> None:
        """Show the last line of what came so far: a live-only event."""
        line = self._door.mask.mask_settled(text).rstrip("\n").rpartition("\n")[2]
        self._door.emit(ToolExecutionUpdate(self.call_id, one_line(line[-UPDATE_CHARS:], UPDATE_CHARS)))

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Make an inner call through the same door as direct calls."""
        self._count += 1
        call = ToolCall(f"{self.call_id}.{self._count}", name, dict(arguments))
        result, value = await self._door.execute(call, self.call_id)
        return ToolOutput(result.content, result.details, result.is_error, result.error_kind, value)


class _Denied(Exception):
    """The permissions refuse a call."""

    def __init__(self, reason: str, rule: str) -> None:
        super().__init__(reason)
        self.rule = rule


def with_note(result: ToolResultMessage, note: str) -> ToolResultMessage:
    """The result with a line for the model at its end."""
    return replace(result, content=(*result.content, TextBlock(note)))


def _size(result: ToolResultMessage) -> int:
    """What a result's blocks take in a history, in bytes."""
    return sum(
        len(block.text.encode()) if isinstance(block, TextBlock) else len(block.data)
        for block in result.content
    )


def _error(text: str, kind: ToolErrorKind) -> ToolOutput:
    return ToolOutput((TextBlock(text),), is_error=True, error_kind=kind)


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    """The decoded arguments. Raises: ToolError quoting the parser where the text is no JSON object."""
    if call.arguments is not None:
        return call.arguments
    try:
        value = json.loads(call.raw_arguments)
        found = "nesting too deep" if isinstance(value, dict) else f"a JSON {type(value).__name__}"
    except ValueError as error:
        found = str(error)
    except RecursionError:
        found = "nesting too deep"
    raise ToolError(
        f"The arguments are not a JSON object ({found}). Nothing was run. Send the call again with "
        "complete, valid JSON.",
        error_kind="malformed_tool_call",
    )
