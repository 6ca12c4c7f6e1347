"""Which tasks may have scripts, and when the process for them is started."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pi_batch.codemode.values import ScriptRequest
from pi_batch.errors import SandboxError
from pi_batch.results import EffectiveValue, PlannedResult
from pi_batch.spec import PlannedTask, TaskSpec
from pi_batch.wiring.scripting import WEAK, Scripting, has_scripts


def task(source: str = "default", model: str = "fake/x", **spec: Any) -> PlannedTask:
    made = TaskSpec(**{"id": "t", "prompt": "p", "codemode": "on", **spec})
    settings = {"codemode": EffectiveValue(made.codemode, source)}
    return PlannedTask(PlannedResult("t", "t", "", "t.yaml", "0" * 64, model), made, "/", model, settings)


def scripting(*, is_isolated: bool = True, platform: str = "linux") -> Scripting:
    return Scripting(is_isolated=lambda: is_isolated, platform=platform, ahead_s=0.04)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [({}, True), ({"codemode": "only"}, True), ({"codemode": "off"}, False), ({"tools": ("read",)}, False)],
)
def test_scripts_are_for_tasks_that_have_the_tool(spec: dict[str, Any], expected: bool) -> None:
    assert has_scripts(task(**spec).spec) is expected


def test_without_a_filter_linux_runs_no_script_and_says_so_once() -> None:
    weak = scripting(is_isolated=False)
    (said,) = weak.warnings([task(), task(), task(codemode="off")])
    assert "no system-call filter (seccomp)" in said
    assert weak.runner_for(task()) is None


def test_a_task_that_asked_for_scripts_is_an_error_then() -> None:
    weak = scripting(is_isolated=False)
    assert weak.warnings([task("spec")]) == ()
    with pytest.raises(SandboxError, match="seccomp"):
        weak.runner_for(task("spec"))


def test_elsewhere_a_process_is_enough_for_trusted_specs_and_that_is_said() -> None:
    weak = scripting(is_isolated=False, platform="darwin")
    assert weak.warnings([task(), task()]) == (WEAK,)
    assert weak.runner_for(task(model="replay/x")) is weak


@pytest.mark.parametrize("spec", [{"sandbox_required": True}, {"trust": "untrusted"}])
def test_elsewhere_a_process_is_not_enough_for_others(spec: dict[str, Any]) -> None:
    weak = scripting(is_isolated=False, platform="darwin")
    with pytest.raises(SandboxError, match="asks for full isolation"):
        weak.runner_for(task("spec", **spec))


def test_where_everything_works_nothing_is_said() -> None:
    assert scripting().warnings([task(), task("spec", sandbox_required=True)]) == ()


async def test_a_recording_starts_nothing_ahead_of_need() -> None:
    made = scripting()
    assert made.runner_for(task("spec", model="replay/x.jsonl")) is made
    await asyncio.sleep(0.06)
    assert not made.is_started
    await made.close()


async def test_a_service_that_answers_at_once_costs_nothing_by_default() -> None:
    made = scripting()
    made.runner_for(task())
    assert not made.is_started
    await made.close()
    await asyncio.sleep(0.06)
    assert not made.is_started


@pytest.mark.slow
async def test_a_task_that_asks_for_scripts_has_them_ready() -> None:
    made = scripting()
    made.runner_for(task("spec"))
    assert made.is_started
    await made.close()


@pytest.mark.slow
async def test_a_script_starts_what_was_not_started() -> None:
    async def no_call(*_: Any) -> Any:
        raise AssertionError

    made = scripting()
    printed: list[str] = []
    end = await made.run(ScriptRequest("print(6 * 7)", ()), no_call, printed.append, lambda *_: None)
    assert (end.status, "".join(printed)) == ("completed", "42\n")
    assert "seccomp" in made.layers
    await made.close()
