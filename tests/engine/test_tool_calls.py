"""The one door: every refusal is a result that says what to do, and nothing slips past it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.engine.tool_calls import with_note
from pi_batch.errors import ToolError
from pi_batch.events import ToolExecutionEnd, ToolExecutionStart, ToolExecutionUpdate
from pi_batch.messages import ImageBlock, TextBlock, ToolCall, ToolResultMessage
from pi_batch.outputs import MaskedOutput
from pi_batch.protocols import OutputFile, ToolContext, ToolOutput
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts
from tests.engine.fakes import Arguments, DenyPaths, FakeTool, Fixture, call, make_door

ECHO = FakeTool("echo", lambda arguments, _context: arguments.text)


def raiser(error: BaseException) -> FakeTool:
    def fail(_arguments: Arguments, _context: ToolContext) -> Any:
        raise error

    return FakeTool("fail", fail)


async def run(fixture: Fixture, tool_call: ToolCall) -> ToolResultMessage:
    result, _value = await fixture.door.execute(tool_call)
    return result


async def test_a_result_goes_back_under_its_call_id() -> None:
    result = await run(make_door(ECHO), call("echo", "call_7", text="hi"))
    assert (result.tool_call_id, result.tool_name, result.text, result.is_error) == (
        "call_7",
        "echo",
        "hi",
        False,
    )


async def test_an_unknown_tool_is_answered_with_the_real_ones() -> None:
    result = await run(make_door(ECHO), call("ecko"))
    assert result.error_kind == "unknown_tool"
    assert "Did you mean echo?" in result.text


async def test_arguments_that_are_no_json_are_answered_with_the_parsers_words() -> None:
    result = await run(make_door(ECHO), ToolCall("1", "echo", None, '{"text": "x'))
    assert result.error_kind == "malformed_tool_call"
    assert "JSON" in result.text
    assert "Unterminated string" in result.text


@pytest.mark.parametrize(
    ("raw", "what"), [("[1]", "a JSON list"), ("3", "a JSON int"), ("", "Expecting value")]
)
async def test_arguments_that_are_no_object_say_what_they_are(raw: str, what: str) -> None:
    result = await run(make_door(ECHO), ToolCall("1", "echo", None, raw))
    assert what in result.text


async def test_deeply_nested_arguments_do_no_harm() -> None:
    for raw in ("[" * 100_000, '{"a":' * 200 + "1" + "}" * 200):
        result = await run(make_door(ECHO), ToolCall("1", "echo", None, raw))
        assert result.error_kind == "malformed_tool_call"
        assert "nesting too deep" in result.text


async def test_wrong_arguments_are_not_run() -> None:
    result = await run(make_door(ECHO), call("echo", colour="red"))
    assert result.error_kind == "invalid_arguments"
    assert "colour" in result.text


async def test_a_denied_call_is_an_error_result_and_an_entry_in_the_report() -> None:
    fixture = make_door(ECHO, rules=DenyPaths(".env"))
    result = await run(fixture, call("echo", path="sub/.env"))
    assert result.error_kind == "denied"
    end = fixture.events[-1]
    assert isinstance(end, ToolExecutionEnd)
    assert end.denial is not None
    assert (end.denial.rule, end.denial.input) == ("deny .env", {"path": "sub/.env"})


async def test_a_call_over_the_limit_is_not_run() -> None:
    fixture = make_door(ECHO, limit=BudgetAmounts(tool_calls=1))
    assert not (await run(fixture, call("echo", text="1"))).is_error
    result = await run(fixture, call("echo", text="2"))
    assert result.error_kind == "not_run"
    assert "tool_calls" in result.text


async def test_refused_calls_cost_nothing() -> None:
    fixture = make_door(ECHO, limit=BudgetAmounts(tool_calls=1))
    await run(fixture, call("nope"))
    await run(fixture, call("echo", bad=1))
    assert fixture.door.ledger.tool_calls == 0


async def test_a_tools_failure_is_a_result() -> None:
    result = await run(make_door(raiser(ToolError("no such file: a.txt"))), call("fail"))
    assert (result.is_error, result.error_kind, result.text) == (True, "failed", "no such file: a.txt")


async def test_a_systems_failure_is_a_result() -> None:
    result = await run(make_door(raiser(PermissionError(13, "Permission denied", "/w/a"))), call("fail"))
    assert result.text == "/w/a: Permission denied"


async def test_a_defect_ends_the_call_in_the_stream_before_it_is_raised() -> None:
    fixture = make_door(raiser(ZeroDivisionError("defect")))
    with pytest.raises(ZeroDivisionError):
        await run(fixture, call("fail"))
    assert [type(event) for event in fixture.events] == [ToolExecutionStart, ToolExecutionEnd]


async def test_a_cancelled_call_has_its_end_too() -> None:
    fixture = make_door(FakeTool("wait", lambda _a, _c: asyncio.sleep(60)))
    task = asyncio.create_task(run(fixture, call("wait")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    end = fixture.events[-1]
    assert isinstance(end, ToolExecutionEnd)
    assert end.is_error


async def test_wall_time_ends_a_running_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pi_batch.engine.tool_calls.TIME_UP_GRACE_S", 0.0)
    fixture = make_door(FakeTool("wait", lambda _a, _c: asyncio.sleep(60)), limit=BudgetAmounts(wall_s=0.05))
    fixture.door.ledger.start_time()
    result = await asyncio.wait_for(run(fixture, call("wait")), 5)
    assert result.error_kind == "timeout"
    assert "wall time" in result.text


async def test_a_blank_result_says_that_there_was_nothing() -> None:
    result = await run(make_door(ECHO), call("echo", text=" \n"))
    assert result.text == "(no output)"


async def test_an_image_alone_is_no_blank_result() -> None:
    image = ImageBlock("AAAA", "image/png")
    result = await run(make_door(FakeTool("look", lambda _a, _c: ToolOutput((image,)))), call("look"))
    assert result.content == (image,)


async def test_secrets_are_hidden_before_the_history_and_in_the_stream() -> None:
    secret = "hunter2-hunter2"
    tool = FakeTool("echo", lambda a, _c: ToolOutput((TextBlock(a.text),), {"shown": a.text}))
    fixture = make_door(tool, secrets=[secret])
    result = await run(fixture, call("echo", text=f"key={secret}"))
    assert secret not in repr(result)
    assert secret not in repr(fixture.events)
    assert "key=" in result.text


async def test_nul_and_lone_surrogates_never_enter_the_history() -> None:
    result = await run(make_door(ECHO), call("echo", text="a\0b\ud800c"))
    assert "\0" not in result.text
    assert result.text.encode()


async def test_paths_stay_in_the_workspace() -> None:
    async def resolve(arguments: Arguments, context: ToolContext) -> str:
        return await context.resolve(arguments.path, for_writing=arguments.text == "w")

    tool = FakeTool("where", resolve)
    fixture = make_door(tool)
    assert (await run(fixture, call("where", path="a/../b"))).text == "/w/b"
    assert (await run(fixture, call("where", path="/w/c"))).text == "/w/c"
    assert (await run(fixture, call("where", path="."))).text == "/w"
    for path in ("../x", "/etc/passwd", "link", "/wider", "a\0b", "loop", "\ud800/../../x"):
        assert (await run(fixture, call("where", path=path))).is_error, path


async def test_outputs_may_be_read_but_not_written() -> None:
    async def resolve(arguments: Arguments, context: ToolContext) -> str:
        return await context.resolve(arguments.path, for_writing=arguments.text == "w")

    fixture = make_door(FakeTool("where", resolve))
    assert not (await run(fixture, call("where", path="/run/outputs/c1-1.txt"))).is_error
    assert (await run(fixture, call("where", path="/run/outputs/x", text="w"))).is_error


async def test_writers_of_one_file_never_overlap() -> None:
    running: list[str] = []

    async def write(arguments: Arguments, _context: ToolContext) -> str:
        assert arguments.path not in running
        running.append("n.txt")
        await asyncio.sleep(0.001)
        running.remove("n.txt")
        return arguments.text

    fixture = make_door(FakeTool("write", write, is_read_only=False))
    calls = [call("write", str(n), path=path) for n, path in enumerate(["n.txt", "./n.txt", "a/../n.txt"])]
    results = await asyncio.gather(*(fixture.door.execute(c) for c in calls))
    assert not any(result.is_error for result, _ in results)


async def test_an_inner_call_goes_through_the_same_door() -> None:
    async def outer(_arguments: Arguments, context: ToolContext) -> ToolOutput:
        return await context.call_tool("echo", {"text": "inner", "path": "x.env"})

    fixture = make_door(FakeTool("outer", outer), ECHO, rules=DenyPaths(".env"))
    result = await run(fixture, call("outer"))
    assert "denied" in result.text
    inner = next(event for event in fixture.events if isinstance(event, ToolExecutionEnd))
    assert inner.parent_tool_call_id == "c1"
    assert fixture.door.ledger.tool_calls == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("with hunter2-hunter2", "with ***"),
        ("step 1\nstep 2\n\n", "step 2"),
        ("half of it: hunter2-hunt", "half of it:"),
        ("hunter2-hunter2" * 20 + "\n" + "x" * 300, "x" * 200),
        ("hunter2-hunter2" + "y" * 190, "***" + "y" * 190),
    ],
)
async def test_progress_is_the_last_line_live_and_masked(text: str, shown: str) -> None:
    fixture = make_door(FakeTool("say", lambda _a, c: c.update(text)), secrets=["hunter2-hunter2"])
    await run(fixture, call("say"))
    (update,) = [event for event in fixture.events if isinstance(event, ToolExecutionUpdate)]
    assert update.text == shown


async def test_a_refused_call_has_start_and_end() -> None:
    fixture = make_door(ECHO)
    result = fixture.door.refuse(call("echo"), "Not run: too late.")
    assert (result.error_kind, result.details["error_kind"]) == ("not_run", "not_run")
    assert [type(event) for event in fixture.events] == [ToolExecutionStart, ToolExecutionEnd]


def test_a_note_is_added_at_the_end() -> None:
    result = with_note(ToolResultMessage("1", "echo", (TextBlock("a"),)), "note")
    assert result.text == "a\nnote"


async def test_output_files_of_calls_that_share_an_id_are_different_ones() -> None:
    """Services number their calls anew in every reply; ids that differ may look alike as file names."""
    named: list[str] = []

    def open_output(name: str) -> OutputFile:
        named.append(name)
        return MaskedOutput(Path(name), Masker(()).stream())

    def run_tool(_arguments: Any, context: ToolContext) -> str:
        return context.open_output(".txt").path

    fixture = make_door(FakeTool("loud", run_tool), open_output=open_output)
    for call_id in ("call_0", "call_0", "call/0", "call_1"):
        await run(fixture, call("loud", call_id))
    assert named == ["call_0-1.txt", "call_0-2.txt", "call_0-3.txt", "call_1-1.txt"]


def outer_tool(name: str, **arguments: Any) -> FakeTool:
    """A tool that makes one inner call and gives what came of it."""

    async def outer(_arguments: Arguments, context: ToolContext) -> ToolOutput:
        inner = await context.call_tool(name, arguments)
        return ToolOutput(inner.content, {"value": inner.value}, error_kind=inner.error_kind)

    return FakeTool("scripts", outer)


async def test_a_script_cannot_start_a_script() -> None:
    fixture = make_door(outer_tool("scripts"), ECHO)
    door = replace(fixture.door, script_tool="scripts")
    result, _value = await door.execute(call("scripts"))
    assert result.text == "Unknown tool 'scripts'. The tools are: echo."
    assert door.ledger.tool_calls == 1


async def test_tools_that_only_scripts_may_call_are_not_called_directly() -> None:
    fixture = make_door(outer_tool("echo", text="inner"), ECHO)
    door = replace(fixture.door, script_tool="scripts", script_only=frozenset({"echo"}))
    refused, _value = await door.execute(call("echo", text="direct"))
    assert refused.error_kind == "unknown_tool"
    assert "`await tools.echo(...)` in scripts" in refused.text
    assert "The tools are: scripts." in refused.text
    carried_out, _value = await door.execute(call("scripts"))
    assert carried_out.text == "inner"


async def test_tools_know_whether_a_script_asks() -> None:
    asked: list[bool] = []
    look = FakeTool("look", lambda _arguments, context: asked.append(context.is_inner))
    fixture = make_door(outer_tool("look"), look)
    await run(fixture, call("look"))
    await run(fixture, call("scripts"))
    assert asked == [False, True]


async def test_secrets_are_masked_in_the_values_that_scripts_get() -> None:
    secret = "hunter2-hunter2"
    leak = FakeTool("leak", lambda _a, _c: ToolOutput((), value=[{"text": f"key={secret}"}]))
    fixture = make_door(outer_tool("leak"), leak, secrets=[secret])
    _result, value = await fixture.door.execute(call("leak"))
    assert value == [{"text": "key=***"}]
    outer, _value = await fixture.door.execute(call("scripts"))
    assert outer.details["value"] == [{"text": "key=***"}]


async def test_the_end_of_a_call_says_what_its_result_takes_and_what_held_it() -> None:
    image = ImageBlock("QUJD", "image/png")
    show = FakeTool("show", lambda _a, _c: ToolOutput((TextBlock("grün"), image), layers=("seccomp",)))
    fixture = make_door(show)
    await run(fixture, call("show"))
    end = fixture.events[-1]
    assert isinstance(end, ToolExecutionEnd)
    assert (end.result_bytes, end.layers) == (5 + 4, ("seccomp",))


async def test_a_call_that_is_cancelled_has_failed_in_the_stream() -> None:
    fixture = make_door(FakeTool("wait", lambda _a, _c: asyncio.sleep(60)))
    running = asyncio.create_task(fixture.door.execute(call("wait")))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    end = fixture.events[-1]
    assert isinstance(end, ToolExecutionEnd)
    assert (end.is_error, end.error_kind) == (True, "failed")
