"""The calls of one message: at once where they cannot disturb each other, results in call order.

Everything runs at once, but for calls around a file that is being written: a `write` or `edit` waits for
the earlier calls of its message, and later calls wait for it, so that `[edit, bash]` and `[read, edit]`
mean what they say. Writers of different files run at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from pi_batch.engine.tool_calls import Door
from pi_batch.errors import ToolError
from pi_batch.messages import ToolCall, ToolResultMessage


async def run_in_order(
    door: Door, calls: Sequence[ToolCall]
) -> AsyncGenerator[tuple[ToolCall, ToolResultMessage], None]:
    """Carry out a message's calls; yield each with its result, in call order, as soon as it is known.

    Cancelled, it ends the calls that still run.
    """
    written = [_paths_written(door, call) if len(calls) > 1 else () for call in calls]
    tasks: list[asyncio.Task[tuple[ToolResultMessage, object]]] = []
    for index, call in enumerate(calls):
        before = [tasks[earlier] for earlier in range(index) if _conflict(written[earlier], written[index])]
        tasks.append(asyncio.create_task(_after(before, door, call)))
    try:
        for call, task in zip(calls, tasks, strict=True):
            result, _value = await task
            yield call, result
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _after(
    before: Sequence[asyncio.Task[tuple[ToolResultMessage, object]]], door: Door, call: ToolCall
) -> tuple[ToolResultMessage, object]:
    if before:
        await asyncio.wait(before)
    return await door.execute(call)


def _conflict(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """True when the later call must wait: one of them writes files that the other may touch."""
    if first and second:
        return not set(first).isdisjoint(second)
    return bool(first or second)


def _paths_written(door: Door, call: ToolCall) -> tuple[str, ...]:
    """The paths that a file writer names, as spelled; real paths are queued at the door."""
    tool = door.tools.get(call.name)
    if tool is None or tool.is_read_only or call.arguments is None:
        return ()
    try:
        return tool.written_paths(door.parse(tool, call.arguments))
    except ToolError:
        return ()  # the door will refuse it
