"""Tasks with several models, a plan or follow-ups over several legs: each goes on where it was."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.engine.legs import Mode, Work, read_earlier
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.planning import PLAN, WORK
from pi_batch.engine.router import Models
from pi_batch.engine.task_parts import TaskParts
from pi_batch.errors import ProviderError
from pi_batch.events import ModelSelected
from pi_batch.fold import fold
from pi_batch.messages import ToolCall, UserMessage
from pi_batch.providers.fake import Scripted, Step, calls, says
from pi_batch.results import BatchResult, RunResult
from pi_batch.routes import ByAttempt, ByClass, ByPhase, InOrder, OneModel, Route
from pi_batch.session import active_branch, messages, read_session
from tests.engine.tasks import Lab, planned

SPENT = ProviderError("spent", kind="quota")
CHECK = [{"name": "check", "run": "test -f made.txt"}]


def bash(call_id: str, command: str) -> Step:
    return calls(ToolCall(call_id, "bash", {"command": command}))


WAITS = bash("w", "touch waiting; sleep 60")
"""A call that the test ends the leg in."""


class Run:
    """One run over legs; each leg has scripts of its own, by model."""

    def __init__(self, path: Path, route: Route, **spec: Any) -> None:
        self.path, self.route, self.spec = path, route, spec
        self.records: list[Any] = []
        self.providers: Mapping[str, Scripted] = {}

    async def go(
        self,
        scripts: Mapping[str, Sequence[Step] | Scripted],
        *,
        mode: Mode | None = None,
        is_cut: bool = False,
    ) -> RunResult:
        """One leg; `is_cut`: it ends when the waiting call runs."""
        self.providers = {
            name: steps if isinstance(steps, Scripted) else Scripted(steps) for name, steps in scripts.items()
        }
        lab = Lab(self.path, files={"a.txt": "base\n"}, change=self._with_models)
        task = planned("t", lab.source, **self.spec)
        work = Work({"t": mode}, read_earlier(self.records)) if mode is not None else None
        batch = lab.batch(task, work=work)
        if is_cut:
            asyncio.get_running_loop().create_task(self._cancel(batch))
        result: BatchResult = await asyncio.wait_for(batch.run(), 60)
        self.records += lab.records()
        assert fold(self.records) == result, "the log of all legs folds to what was told"
        return result.results[0]

    def _with_models(self, parts: TaskParts) -> TaskParts:
        ports = {
            name: ModelPort(provider, "fake", name.removeprefix("fake/"), max_output_tokens=2_000)
            for name, provider in self.providers.items()
        }
        return replace(parts, port=next(iter(ports.values())), models=Models(self.route, ports))

    async def _cancel(self, batch: Any) -> None:
        while not [*self.path.rglob("waiting")]:
            await asyncio.sleep(0.005)
        batch.cancel(143)

    def asked(self) -> dict[str, int]:
        return {name: len(provider.requests) for name, provider in self.providers.items()}

    def said(self) -> list[str]:
        branch = active_branch(read_session(self.path / "run/tasks/t/session.jsonl"))
        return [message.text for message in messages(branch) if isinstance(message, UserMessage)]

    def selected(self) -> list[str]:
        return [one.event.model for one in self.records if isinstance(one.event, ModelSelected)]


IN_ORDER = InOrder("router/r", (OneModel("fake/a"), OneModel("fake/b")))


async def test_a_resumed_task_asks_the_model_that_was_in_use(tmp_path: Path) -> None:
    run = Run(tmp_path, IN_ORDER)
    cut = await run.go({"fake/a": [bash("c1", "true"), SPENT], "fake/b": [WAITS]}, is_cut=True)
    assert cut.outcome == "error"
    done = await run.go({"fake/a": [], "fake/b": [says("done")]}, mode="go_on")
    assert (done.outcome, done.answer) == ("passed", "done")
    assert run.asked() == {"fake/a": 0, "fake/b": 1}
    assert run.selected() == ["fake/a", "fake/b"], "nothing was decided anew"
    assert [one.error_kind for one in done.model_selections] == [None, "quota"]


async def test_a_task_begun_anew_begins_with_the_first_model(tmp_path: Path) -> None:
    run = Run(tmp_path, IN_ORDER, verify=CHECK)
    await run.go({"fake/a": [SPENT], "fake/b": [says("no")]})
    again = await run.go({"fake/a": [bash("c1", "touch made.txt"), says("yes")], "fake/b": []}, mode="rerun")
    assert again.outcome == "passed"
    assert run.asked()["fake/b"] == 0


async def test_a_step_that_was_taken_is_not_taken_again(tmp_path: Path) -> None:
    route = ByAttempt("router/r", (OneModel("fake/a"), OneModel("fake/b")))
    run = Run(tmp_path, route, verify=CHECK, attempts={"verify": 2})
    await run.go({"fake/a": [says("mine")], "fake/b": [WAITS]}, is_cut=True)
    done = await run.go({"fake/a": [], "fake/b": [bash("c1", "touch made.txt"), says("done")]}, mode="go_on")
    assert (done.outcome, done.attempts) == ("passed", 2)
    assert run.asked() == {"fake/a": 0, "fake/b": 2}


async def test_a_model_that_goes_round_in_circles_is_followed_by_the_next(tmp_path: Path) -> None:
    route = ByAttempt("router/r", (OneModel("fake/a"), OneModel("fake/b")))
    run = Run(tmp_path, route, verify=CHECK, attempts={"verify": 2})
    circles = [bash(f"c{number}", "cat a.txt") for number in range(5)]
    looks = [bash("d1", "cat a.txt"), bash("d2", "touch made.txt"), says("done")]
    done = await run.go({"fake/a": circles, "fake/b": looks})
    assert (done.outcome, done.attempts, done.stop) == ("passed", 2, "completed")
    assert run.asked() == {"fake/a": 5, "fake/b": 3}


async def test_without_a_next_model_circles_end_the_task(tmp_path: Path) -> None:
    circles = [bash(f"c{number}", "cat a.txt") for number in range(5)]
    run = Run(tmp_path, OneModel("fake/a"), verify=CHECK, attempts={"verify": 2})
    done = await run.go({"fake/a": circles})
    assert (done.outcome, done.attempts, done.stop) == ("failed", 1, "repeated_calls")


async def test_a_plan_goes_on_as_a_plan_and_its_instruction_is_said_once(tmp_path: Path) -> None:
    route = ByPhase("router/r", OneModel("fake/plan"), OneModel("fake/work"))
    run = Run(tmp_path, route, verify=CHECK)
    looks = calls(ToolCall("c1", "read", {"path": "a.txt"}))

    class Halting(Scripted):
        """Ends the leg at its second request."""

        async def stream(self, request: Any) -> Any:
            if len(self.requests) == 1:
                (tmp_path / "waiting").touch()
                await asyncio.Event().wait()
            async for piece in super().stream(request):
                yield piece

    await run.go({"fake/plan": Halting([looks]), "fake/work": []}, is_cut=True)
    done = await run.go(
        {
            "fake/plan": [bash("c2", "touch made.txt"), says("the plan")],
            "fake/work": [bash("c3", "touch made.txt"), says("done")],
        },
        mode="go_on",
    )
    assert done.outcome == "passed"
    assert run.asked() == {"fake/plan": 2, "fake/work": 2}
    said = run.said()
    assert (said.count(PLAN), said.count(WORK)) == (1, 1)
    assert [denial.rule for denial in done.permission_denials] == ["phases: plan"]


async def test_work_that_was_begun_is_not_planned_again(tmp_path: Path) -> None:
    route = ByPhase("router/r", OneModel("fake/plan"), OneModel("fake/work"))
    run = Run(tmp_path, route)
    await run.go({"fake/plan": [says("the plan")], "fake/work": [WAITS]}, is_cut=True)
    done = await run.go({"fake/plan": [], "fake/work": [says("done")]}, mode="go_on")
    assert done.answer == "done"
    assert run.said().count(PLAN) == 1


async def test_a_class_is_asked_for_once_over_all_legs(tmp_path: Path) -> None:
    route = ByClass("router/r", "fake/s", {"small": OneModel("fake/a"), "large": OneModel("fake/b")})
    run = Run(tmp_path, route)
    await run.go({"fake/s": [says("large")], "fake/a": [], "fake/b": [WAITS]}, is_cut=True)
    done = await run.go({"fake/s": [], "fake/a": [], "fake/b": [says("done")]}, mode="go_on")
    assert done.answer == "done"
    assert run.asked() == {"fake/s": 0, "fake/a": 0, "fake/b": 1}
    assert done.num_turns == 2, "the classification is none"


async def test_a_follow_up_that_was_said_is_not_said_again(tmp_path: Path) -> None:
    run = Run(tmp_path, OneModel("fake/a"), follow_ups=["And the docs?", "Sum it up."])
    await run.go({"fake/a": [says("one"), WAITS]}, is_cut=True)
    done = await run.go({"fake/a": [says("two"), says("three")]}, mode="go_on")
    assert (done.outcome, done.answer) == ("passed", "three")
    said = run.said()
    assert (said.count("And the docs?"), said.count("Sum it up.")) == (1, 1)


@pytest.mark.parametrize("kind", ["quota", "overloaded"])
async def test_a_service_that_fails_to_the_end_leaves_a_task_that_can_be_run_again(
    tmp_path: Path, kind: Any
) -> None:
    """Running it again means going on: who failed then may be back, but the last one is asked."""
    fails = ProviderError("no", kind=kind)
    run = Run(tmp_path, IN_ORDER)
    first = await run.go({"fake/a": [fails], "fake/b": [fails]})
    assert (first.outcome, first.error.kind if first.error else "") == ("error", kind)
    done = await run.go({"fake/a": [], "fake/b": [says("done")]}, mode="go_on")
    assert done.answer == "done"
