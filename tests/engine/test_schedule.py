"""Calls of one message run at once where they cannot disturb each other; results keep their order."""

from __future__ import annotations

import asyncio

from pi_batch.engine.schedule import run_in_order
from pi_batch.messages import ToolCall
from pi_batch.protocols import ToolContext
from tests.engine.fakes import Arguments, FakeTool, Fixture, call, make_door


def traced(log: list[str]) -> Fixture:
    """Tools that note when they begin and end; `text` is how many steps they take."""

    async def act(arguments: Arguments, context: ToolContext) -> str:
        log.append(f"+{context.call_id}")
        for _ in range(int(arguments.text or 1) * 5):
            await asyncio.sleep(0)
        log.append(f"-{context.call_id}")
        return context.call_id

    return make_door(
        FakeTool("read", act),
        FakeTool("bash", act, is_read_only=False),
        FakeTool("write", act, is_read_only=False),
    )


async def order(*calls: ToolCall) -> tuple[list[str], list[str]]:
    log: list[str] = []
    fixture = traced(log)
    results = [result.text async for _call, result in run_in_order(fixture.door, calls)]
    return log, results


async def test_reads_run_at_once_and_answer_in_order() -> None:
    log, results = await order(call("read", "a", text="9"), call("read", "b"), call("read", "c"))
    assert log[:3] == ["+a", "+b", "+c"]
    assert results == ["a", "b", "c"]


async def test_commands_run_at_once() -> None:
    log, _ = await order(call("bash", "a", text="9"), call("bash", "b"))
    assert log[:2] == ["+a", "+b"]


async def test_a_command_sees_the_file_written_before_it() -> None:
    log, _ = await order(call("write", "w", path="a.txt", text="9"), call("bash", "b"))
    assert log == ["+w", "-w", "+b", "-b"]


async def test_a_write_waits_for_the_read_before_it() -> None:
    log, _ = await order(call("read", "r", path="a.txt", text="9"), call("write", "w", path="a.txt"))
    assert log == ["+r", "-r", "+w", "-w"]


async def test_writers_of_one_path_queue_and_of_two_do_not() -> None:
    log, _ = await order(
        call("write", "a", path="x", text="9"), call("write", "b", path="x"), call("write", "c", path="y")
    )
    assert log.index("+c") < log.index("-a") < log.index("+b")


async def test_a_failed_call_does_not_hold_up_those_behind_it() -> None:
    log, results = await order(call("write", "a", path="x", wrong="1"), call("nope", "b"), call("read", "c"))
    assert log == ["+c", "-c"]
    assert results[2] == "c"


async def test_cancelling_ends_the_calls_that_still_run() -> None:
    ended = asyncio.Event()

    async def wait(_arguments: Arguments, _context: ToolContext) -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return ""

    fixture = make_door(FakeTool("wait", wait))

    async def consume() -> None:
        async for _ in run_in_order(fixture.door, [call("wait", "a"), call("wait", "b")]):
            pass

    task = asyncio.create_task(consume())
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.wait_for(ended.wait(), 1)
