"""The tool itself, its scripts played by a fake."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pi_batch.codemode.store import ScriptStore
from pi_batch.codemode.tool import Codemode, CodemodeArguments
from pi_batch.codemode.values import MAX_TIMEOUT_S, CallReply, ScriptEnd
from pi_batch.errors import SandboxError, ToolError
from pi_batch.messages import ImageBlock, TextBlock
from pi_batch.protocols import ToolOutput
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.tools.declare import declaration, parse_arguments
from tests.codemode.fakes import DONE, READ, FakeRunner, Script, World, failed, keeps, prints
from tests.tools.context import FakeContext


@dataclass
class Context(FakeContext):
    """Inner calls give what the test says."""

    answers: dict[str, ToolOutput] = field(default_factory=dict)

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        await super().call_tool(name, arguments)
        if name == "slow":
            await asyncio.sleep(60)
        return self.answers[name]


def context(**answers: ToolOutput) -> Context:
    return Context(NoneSandbox(), "/w", "/s", answers=answers)


def text(*parts: str, **output: Any) -> ToolOutput:
    return ToolOutput(tuple(TextBlock(part) for part in parts), **output)


async def run(script: Script, around: Context | None = None, **arguments: Any) -> ToolOutput:
    tool = Codemode(FakeRunner(script), [READ])
    parsed = parse_arguments(tool, {"script": "pass", **arguments})
    assert isinstance(parsed, CodemodeArguments)
    return await tool.run(parsed, around or context())


def said(output: ToolOutput) -> str:
    (first, *_rest) = output.content
    assert isinstance(first, TextBlock)
    return first.text


async def test_a_script_that_completes_gives_its_output_and_the_layers_that_held_it() -> None:
    output = await run(prints("hello\n"))
    assert said(output).endswith("Output:\nhello")
    assert (output.is_error, output.error_kind, output.layers) == (False, None, ("process", "seccomp"))
    assert output.details["status"] == "completed"


async def test_a_script_that_fails_is_an_error_that_keeps_its_output() -> None:
    async def script(world: World) -> ScriptEnd:
        world.on_output("before\n")
        return failed("ValueError", "line 3: bad")

    output = await run(script)
    assert said(output).endswith("Output:\nbefore\nValueError: line 3: bad")
    assert (output.is_error, output.error_kind) == (True, "failed")


async def test_calls_get_values_where_there_are_and_text_elsewhere() -> None:
    replies: list[CallReply] = []

    async def script(world: World) -> ScriptEnd:
        replies.extend([await world.call("grep", pattern="x"), await world.call("write", path="a")])
        return DONE

    around = context(grep=text("a:1: x", value=[{"path": "a"}]), write=text("Created a.", "Really."))
    await run(script, around)
    assert replies == [CallReply(1, [{"path": "a"}]), CallReply(2, "Created a.\nReally.")]
    assert [(call.id, call.name, call.arguments) for call in around.calls] == [
        ("call_1.1", "grep", {"pattern": "x"}),
        ("call_1.2", "write", {"path": "a"}),
    ]


async def test_a_call_that_fails_is_an_error_with_the_tools_words() -> None:
    replies: list[CallReply] = []

    async def script(world: World) -> ScriptEnd:
        replies.append(await world.call("read", path="a"))
        return DONE

    await run(script, context(read=text("a: no such file", is_error=True, error_kind="failed")))
    assert replies == [CallReply(1, error="a: no such file", error_kind="failed")]


async def test_a_command_that_exits_with_an_error_is_a_value_and_one_that_never_ends_is_not() -> None:
    replies: list[CallReply] = []

    async def script(world: World) -> ScriptEnd:
        replies.extend([await world.call("bash"), await world.call("late")])
        return DONE

    value = {"output": "", "exit_code": 1}
    around = context(
        bash=text("[exit code 1]", is_error=True, error_kind="failed", value=value),
        late=text("[timed out]", is_error=True, error_kind="timeout", value=value),
    )
    await run(script, around)
    assert (replies[0].value, replies[0].error, replies[1].error) == (value, None, "[timed out]")


async def test_every_call_is_recorded_with_how_it_ended() -> None:
    async def script(world: World) -> ScriptEnd:
        await world.call("read")
        await world.call("bash")
        pending = asyncio.create_task(world.call("slow"))
        await asyncio.sleep(0)
        pending.cancel()
        await asyncio.wait([pending])
        return DONE

    output = await run(script, context(read=text("x"), bash=text("no", is_error=True)))
    nested = output.details["nestedCalls"]
    assert [(one["id"], one["name"], one["status"]) for one in nested["calls"]] == [
        ("call_1.1", "read", "ok"),
        ("call_1.2", "bash", "error"),
        ("call_1.3", "slow", "unfinished"),
    ]
    assert nested["calls"][1]["error"] == "no"
    assert not nested["complete"]
    assert "3 tool calls" in said(output)


async def test_images_are_blocks_behind_the_text() -> None:
    async def script(world: World) -> ScriptEnd:
        world.on_image("iVBORw==", "image/png")
        return DONE

    assert (await run(script)).content[1:] == (ImageBlock("iVBORw==", "image/png"),)


async def test_output_beyond_what_was_asked_for_is_in_a_file() -> None:
    around = context()
    output = await run(prints("line\n" * 1000), around, max_output_chars=300)
    assert output.details["full_output_path"] == around.outputs[0].path
    assert len(said(output)) < 600


async def test_what_a_script_keeps_is_there_for_the_next_one_and_in_the_record() -> None:
    runner = FakeRunner(keeps({"seen": [1]}))
    tool = Codemode(runner, [READ], ScriptStore({"old": 1}))
    arguments = CodemodeArguments(script="pass")
    output = await tool.run(arguments, context())
    await tool.run(arguments, context())
    assert [dict(request.store) for request in runner.requests] == [{"old": 1}, {"seen": [1]}]
    assert output.details["store"] == {"seen": [1]}


async def test_a_script_that_keeps_nothing_new_leaves_no_record_of_it() -> None:
    assert "store" not in (await run(prints("x"))).details


async def test_a_script_gets_the_tools_and_no_more_time_than_the_task_has() -> None:
    runner = FakeRunner()
    around = context()
    around.seconds_left = 7.0
    await Codemode(runner, [READ]).run(CodemodeArguments(script="x = 1", timeout_s=30), around)
    (request,) = runner.requests
    assert (request.source, request.tools, request.timeout_s) == ("x = 1", (READ,), 7.0)


async def test_a_script_that_the_tasks_time_ends_is_told_so() -> None:
    async def script(world: World) -> ScriptEnd:
        await asyncio.sleep(world.request.timeout_s)
        return failed("TimeoutError", "too long")

    around = context()
    around.seconds_left = 0.02
    output = await run(script, around)
    assert output.error_kind == "timeout"
    assert "Note: that was all the time left for this task" in said(output)


async def test_where_no_script_can_run_the_run_is_told() -> None:
    async def script(_world: World) -> ScriptEnd:
        raise SandboxError("no seccomp")

    with pytest.raises(SandboxError, match="no seccomp"):
        await run(script)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "script: missing"),
        ({"script": " \n"}, "script: is blank"),
        ({"script": "x", "timeout_s": MAX_TIMEOUT_S + 1}, "timeout_s"),
        ({"script": "x", "max_output_chars": 1}, "max_output_chars"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        parse_arguments(Codemode(FakeRunner(), [READ]), arguments)


@pytest.mark.parametrize("fence", ["```python\n{}\n```", "```\n{}\n```\n", "  ```py\n{}```"])
def test_a_fence_is_taken_off_and_lines_keep_their_numbers(fence: str) -> None:
    parsed = parse_arguments(Codemode(FakeRunner(), [READ]), {"code": fence.format("a = 1\nb = 2")})
    assert isinstance(parsed, CodemodeArguments)
    assert parsed.script.split("\n")[1:3] == ["a = 1", "b = 2"]


def test_a_script_with_fences_inside_is_left_alone() -> None:
    script = 'print("```")\nx = """\n```py\n```\n"""'
    assert CodemodeArguments(script=script).script == script


def test_its_declaration_is_one_that_services_take() -> None:
    made = declaration(Codemode(FakeRunner(), [READ]))
    assert made.name == "codemode"
    assert made.parameters["required"] == ["script"]
    assert set(made.parameters["properties"]) == {"script", "timeout_s", "max_output_chars"}


def test_it_writes_no_path_of_its_own() -> None:
    tool = Codemode(FakeRunner(), [READ])
    assert tool.written_paths(CodemodeArguments(script="x")) == ()
    assert not tool.is_read_only
