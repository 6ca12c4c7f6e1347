"""Tasks over several legs of a batch: interrupted, taken up, judged, begun anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pi_batch.engine.legs import Mode, Work, read_earlier
from pi_batch.engine.task_parts import TaskParts
from pi_batch.events import BatchStart, TaskEnd, TaskStart, VerificationStart
from pi_batch.fold import fold
from pi_batch.messages import AssistantMessage, TextBlock, ToolCall, ToolResultMessage, UserMessage
from pi_batch.protocols import ModelRequest
from pi_batch.providers.fake import Step, calls, says
from pi_batch.results import BatchResult
from tests.engine.tasks import Lab, planned

CHECK = [{"name": "check", "run": "test -f made.txt"}]


def bash(call_id: str, command: str) -> ToolCall:
    return ToolCall(call_id, "bash", {"command": command})


class Run:
    """One run over legs; each leg has a script of its own."""

    def __init__(self, path: Path, **spec: Any) -> None:
        self.path = path
        self.spec = spec
        self.leg = 0
        self.lab: Lab
        self.records: list[Any] = []

    async def go(self, *steps: Step, mode: Mode | None = None, cancel_at: str | None = None) -> BatchResult:
        """One leg; `cancel_at`: a file whose appearing ends it."""
        self.leg += 1
        lab = self.lab = Lab(self.path, {"t": steps}, files={"a.txt": "base\n"}, change=self._kept)
        task = planned("t", lab.source, **self.spec)
        parts = lab.batch(task)
        if mode is not None:
            earlier = read_earlier(self.records)
            parts = lab.batch(task, work=Work({"t": mode}, earlier))
        if cancel_at is not None:
            asyncio.get_running_loop().create_task(self._cancel(parts.cancel, self.path / cancel_at))
        result = await asyncio.wait_for(parts.run(), 60)
        self.records += lab.records()
        assert fold(self.records) == result, "the log of all legs folds to what was told"
        return result

    def _kept(self, parts: TaskParts) -> TaskParts:
        return parts

    async def _cancel(self, cancel: Callable[[int], None], file: Path) -> None:
        while not file.exists():
            await asyncio.sleep(0.005)
        cancel(143)

    def requests(self) -> list[ModelRequest]:
        return self.lab.providers["t"].requests


def texts(request: ModelRequest) -> list[str]:
    return [
        " ".join(block.text for block in message.content if isinstance(block, TextBlock))
        for message in request.messages
        if isinstance(message, UserMessage | AssistantMessage | ToolResultMessage)
    ]


async def interrupted(path: Path, **spec: Any) -> Run:
    """A run whose second call was ended by a signal."""
    run = Run(path, **spec)
    slow = bash("c2", f"echo half > half.txt; touch {path / 'started'}; sleep 30")
    first = calls(bash("c1", "echo one"), cost_usd=0.25)
    result = await run.go(first, calls(slow, cost_usd=0.25), cancel_at="started")
    assert result.status == "interrupted"
    return run


async def test_an_interrupted_task_goes_on_in_its_workspace(tmp_path: Path) -> None:
    run = await interrupted(tmp_path, verify=CHECK)
    make = calls(bash("c3", "cat half.txt && mv half.txt made.txt"), cost_usd=0.25)
    result = await run.go(make, says("done"), mode="go_on")
    (task,) = result.results
    assert (task.outcome, task.stop, result.status, result.legs) == ("passed", "completed", "complete", 2)
    said = texts(run.requests()[0])
    assert said[0] == "go"
    assert "Interrupted" in said[-2]
    assert "goes on now" in said[-1]
    assert (task.num_turns, task.total_cost_usd) == (4, 0.75)
    assert task.tool_calls == {"bash": 3}
    assert [file.path for file in task.changed_files] == ["made.txt"]


async def test_budgets_count_over_legs(tmp_path: Path) -> None:
    run = await interrupted(tmp_path, budget={"turns": 3})
    (task,) = (await run.go(calls(bash("c3", "echo more")), says("never"), mode="go_on")).results
    assert task.stop == "max_turns"
    assert len(run.requests()) == 1
    assert task.budget.used.turns == 3
    assert task.budget.used.wall_s is not None
    assert task.budget.used.wall_s > 0


async def test_times_are_sums_over_legs(tmp_path: Path) -> None:
    run = await interrupted(tmp_path)
    first_s = fold(run.records).results[0].duration_s
    result = await run.go(says("done"), mode="go_on")
    ends = [record.event.duration_s for record in run.records if isinstance(record.event, TaskEnd)]
    assert result.results[0].duration_s == round(sum(ends), 3)
    assert result.results[0].duration_s >= first_s
    assert result.duration_s >= result.results[0].duration_s - 0.01


async def test_the_log_goes_on_and_says_which_leg_it_is(tmp_path: Path) -> None:
    run = await interrupted(tmp_path)
    await run.go(says("done"), mode="go_on")
    numbers = [record.seq for record in run.records if record.seq]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [r.event.leg for r in run.records if isinstance(r.event, BatchStart)] == [1, 2]
    assert [r.event.is_rerun for r in run.records if isinstance(r.event, TaskStart)] == [False, False]


async def test_checks_that_were_interrupted_are_judged_without_a_request(tmp_path: Path) -> None:
    slow = [{"name": "check", "run": f"touch {tmp_path / 'started'}; test -f {tmp_path / 'go'} || sleep 30"}]
    run = Run(tmp_path, verify=slow)
    await run.go(says("my answer"), cancel_at="started")
    (tmp_path / "go").touch()
    (task,) = (await run.go(mode="go_on")).results
    assert (task.outcome, task.answer, task.attempts, task.verified) == ("passed", "my answer", 1, True)
    assert run.requests() == []
    assert len(task.verification) == 1


async def test_attempts_go_on_where_they_were(tmp_path: Path) -> None:
    run = Run(tmp_path, verify=CHECK, attempts={"verify": 3})
    slow = bash("c1", f"touch {tmp_path / 'started'}; sleep 30")
    await run.go(says("first"), calls(slow), cancel_at="started")
    (task,) = (await run.go(calls(bash("c2", "touch made.txt")), says("second"), mode="go_on")).results
    assert (task.outcome, task.attempts) == ("passed", 2)
    judged = [r.event.attempt for r in run.records if isinstance(r.event, VerificationStart)]
    assert judged == [1, 2]


async def test_a_task_that_is_begun_anew_has_its_own_budget_and_its_sums_go_on(tmp_path: Path) -> None:
    run = Run(tmp_path, verify=CHECK, budget={"turns": 2})
    (first,) = (await run.go(says("no", cost_usd=0.25))).results
    assert first.outcome == "failed"
    run.path = tmp_path / "again"
    run.path.mkdir()
    (task,) = (
        await run.go(calls(bash("c1", "touch made.txt"), cost_usd=0.5), says("yes"), mode="rerun")
    ).results
    assert (task.outcome, task.answer, task.attempts) == ("passed", "yes", 1)
    assert (task.num_turns, task.total_cost_usd, task.budget.used.turns) == (3, 0.75, 2)


async def test_stored_work_is_judged_again_without_a_request(tmp_path: Path) -> None:
    run = Run(tmp_path, verify=CHECK)
    make = calls(bash("c1", "echo x > made.txt; echo more >> a.txt"))
    (first,) = (await run.go(make, says("done"))).results
    assert first.patch is not None
    run.spec = {"verify": [{"name": "check", "run": "grep more a.txt && grep never a.txt"}]}
    (task,) = (await run.go(mode="reverify")).results
    assert (task.outcome, task.answer, run.requests()) == ("failed", "done", [])
    assert (task.patch, task.changed_files) == (first.patch, first.changed_files)
    run.spec = {"verify": [{"name": "check", "run": "grep more a.txt && test -f made.txt"}]}
    (task,) = (await run.go(mode="reverify")).results
    assert (task.outcome, task.verified, run.requests()) == ("passed", True, [])


async def test_work_is_judged_on_other_files_with_a_word_about_it(tmp_path: Path) -> None:
    run = Run(tmp_path, verify=CHECK)
    await run.go(calls(bash("c1", "echo x > made.txt")), says("done"))
    (tmp_path / "source/new.txt").write_text("since\n")
    (task,) = (await run.go(mode="reverify")).results
    assert task.outcome == "passed"
    assert any("judged on the files as they are now" in text for text in task.warnings)


async def test_work_that_fits_no_more_is_an_error_and_kept(tmp_path: Path) -> None:
    run = Run(tmp_path, verify=CHECK)
    (first,) = (await run.go(calls(bash("c1", "touch made.txt")), says("done"))).results
    (tmp_path / "source/made.txt").write_text("there by now\n")
    (task,) = (await run.go(mode="reverify")).results
    assert task.error is not None
    assert (task.outcome, task.error.kind, task.patch) == ("error", "workspace", first.patch)
    assert task.changed_files == first.changed_files


async def test_a_new_prompt_goes_on_with_what_was_said(tmp_path: Path) -> None:
    run = Run(tmp_path)
    await run.go(calls(bash("c1", "echo one")), says("first"))
    run.spec = {"prompt": "and now?"}
    (task,) = (await run.go(says("second"), mode="prompt")).results
    said = texts(run.requests()[0])
    assert (said[0], said[-1]) == ("go", "and now?")
    assert "This conversation goes on" in said[-2]
    assert (task.answer, task.num_turns, task.budget.used.turns) == ("second", 3, 1)


async def test_full_outputs_of_a_later_leg_do_not_mix_with_earlier_ones(tmp_path: Path) -> None:
    many = "seq 1 20000"
    slow = bash("c2", f"touch {tmp_path / 'started'}; sleep 30")
    run = Run(tmp_path)
    await run.go(calls(bash("c1", many)), calls(slow), cancel_at="started")
    await run.go(calls(bash("c1", many)), says("done"), mode="go_on")
    names = sorted(path.name for path in run.lab.run_dir.glob("tasks/t/outputs/*"))
    assert names == ["c1-1.txt", "c1-2.txt"]
