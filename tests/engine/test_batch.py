"""Many tasks under one budget, with one report, whatever ends them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.engine.legs import Work, read_earlier
from pi_batch.errors import LogWriteError
from pi_batch.events import BatchEnd, BatchStart, Record, TaskEnd, TaskStart
from pi_batch.fold import fold
from pi_batch.messages import AssistantMessage, ToolCall
from pi_batch.protocols import ModelRequest
from pi_batch.providers.fake import calls, says
from pi_batch.results import BatchResult
from pi_batch.sinks.fake import Collected
from pi_batch.spec import SuiteBudgetSpec
from tests.engine.tasks import Lab, planned


def think(call_id: str) -> AssistantMessage:
    return calls(ToolCall(call_id, "bash", {"command": f"echo {call_id}"}), cost_usd=0.25)


async def test_every_planned_task_has_a_result_in_plan_order(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {key: [says(key)] for key in "abc"}, max_parallel=2)
    batch = await lab.run(*(planned(key, lab.source) for key in "abc"))
    assert [result.key for result in batch.results] == ["a", "b", "c"]
    assert (batch.status, batch.exit_code) == ("complete", 0)
    assert [planned_one.key for planned_one in batch.planned] == ["a", "b", "c"]


async def test_tasks_run_at_once_up_to_the_limit(tmp_path: Path) -> None:
    peak: list[int] = []

    def reply(_request: ModelRequest) -> AssistantMessage:
        started = len(lab.events(TaskStart)) - len(lab.events(TaskEnd))
        peak.append(started)
        return says("x")

    lab = Lab(tmp_path, {key: [reply] for key in "abcdef"}, max_parallel=3)
    await lab.run(*(planned(key, lab.source) for key in "abcdef"))
    assert max(peak) <= 3


async def test_a_spent_suite_budget_skips_what_has_not_started(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {key: [says(key)] for key in "abc"}, budget=SuiteBudgetSpec(turns=2))
    batch = await lab.run(*(planned(key, lab.source) for key in "abc"))
    assert [result.outcome for result in batch.results] == ["passed", "passed", "skipped"]
    assert "budget.turns" in batch.results[2].reason
    assert batch.exit_code == 1
    assert list(lab.providers) == ["a", "b"]


async def test_a_repositorys_spent_budget_skips_its_own_tasks_alone(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {key: [says(key)] for key in "abcd"}, group_budgets={"s/r": SuiteBudgetSpec(turns=1)})
    tasks = [planned(key, lab.source) for key in "abcd"]
    grouped = [replace(task, group="s/r") if task.planned.key in "ab" else task for task in tasks]
    batch = await lab.run(*grouped)
    assert [result.outcome for result in batch.results] == ["passed", "skipped", "passed", "passed"]
    assert batch.results[1].reason == "not started: the repository's budget.turns is used up"
    assert batch.results[1].skipped_by == "budget"
    assert batch.exit_code == 1


async def test_what_a_repository_spends_counts_for_the_suite(tmp_path: Path) -> None:
    lab = Lab(
        tmp_path,
        {key: [says(key)] for key in "ab"},
        budget=SuiteBudgetSpec(turns=1),
        group_budgets={"s/r": SuiteBudgetSpec(turns=9)},
    )
    batch = await lab.run(*(replace(planned(key, lab.source), group="s/r") for key in "ab"))
    assert batch.results[1].reason == "not started: the suite's budget.turns is used up"


async def test_what_earlier_legs_spent_of_a_repositorys_budget_is_spent(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"a": [says("a")]}, group_budgets={"s/r": SuiteBudgetSpec(turns=1)})
    tasks = [replace(planned(key, lab.source), group="s/r") for key in "ab"]
    await lab.run(tasks[0])
    earlier = read_earlier(lab.records())
    work = Work({"b": "begin"}, earlier)
    batch = await asyncio.wait_for(lab.batch(*tasks, work=work).run(), 60)
    assert [result.outcome for result in batch.results] == ["passed", "skipped"]


async def test_parallel_tasks_never_overrun_the_suites_money(tmp_path: Path) -> None:
    scripts = {key: [think(f"{key}{n}") for n in range(9)] for key in "abcdefghij"}
    lab = Lab(tmp_path, scripts, budget=SuiteBudgetSpec(turns=12), max_parallel=10)
    batch = await lab.run(*(planned(key, lab.source) for key in "abcdefghij"))
    assert sum(len(provider.requests) for provider in lab.providers.values()) == 12
    assert batch.totals.num_turns == 12


async def test_of_tasks_that_run_at_once_the_longest_is_begun_first(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {key: [says(key)] for key in "abc"}, max_parallel=2)
    wall = {"a": 5.0, "b": 60.0, "c": 7.0}
    tasks = [planned(key, lab.source, budget={"wall_s": wall[key]}) for key in "abc"]
    batch = await lab.run(*tasks)
    begun = [record.key for record in lab.records() if isinstance(record.event, TaskStart)]
    assert begun[0] == "b"
    assert [result.key for result in batch.results] == ["a", "b", "c"]


async def test_one_tasks_error_does_not_touch_the_others(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"b": [says("fine")]})
    batch = await lab.run(planned("a", lab.source), planned("b", lab.source))
    assert [result.outcome for result in batch.results] == ["error", "passed"]
    assert batch.exit_code == 3


async def test_reports_are_written_before_between_and_after(tmp_path: Path) -> None:
    states: list[tuple[str, int]] = []
    lab = Lab(
        tmp_path,
        {key: [says(key)] for key in "ab"},
        write_reports=lambda batch: states.append((batch.status, len(batch.results))),
    )
    await lab.run(planned("a", lab.source), planned("b", lab.source))
    assert states[0] == ("running", 0)
    assert ("running", 1) in states
    assert states[-1] == ("complete", 2)


async def test_reports_that_have_to_wait_are_written_while_other_tasks_still_run(tmp_path: Path) -> None:
    states: list[tuple[str, int]] = []
    lab = Lab(
        tmp_path,
        {"a": [says("a")], "b": [calls(ToolCall("c", "bash", {"command": "sleep 0.3"})), says("b")]},
        write_reports=lambda batch: states.append((batch.status, batch.totals.passed)),
        report_pause_s=lambda: 0.02 if states else 0.0,
        max_parallel=2,
    )
    await lab.run(planned("a", lab.source), planned("b", lab.source))
    assert states == [("running", 0), ("running", 1), ("complete", 2)]


async def test_the_live_result_is_what_the_log_folds_to(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {key: [think(key), says(key)] for key in "ab"}, max_parallel=2)
    batch = await lab.run(planned("a", lab.source), planned("b", lab.source))
    assert fold(lab.records()) == batch


async def test_the_stream_has_one_start_and_one_end_and_no_gaps(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {key: [think(key), says(key)] for key in "ab"}, max_parallel=2)
    await lab.run(planned("a", lab.source), planned("b", lab.source))
    numbers = [record.seq for record in lab.records() if record.seq is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    assert isinstance(lab.records()[0].event, BatchStart)
    assert isinstance(lab.records()[-1].event, BatchEnd)
    assert lab.collected.is_closed


class FullDisk(Collected):
    """A log that is full after some records."""

    def handle(self, record: Record) -> None:
        if len(self.records) >= 8:
            raise LogWriteError("events.jsonl: cannot be written: No space left on device")
        super().handle(record)


async def test_a_log_that_cannot_be_written_ends_the_run_loudly_and_the_report_is_there(
    tmp_path: Path,
) -> None:
    written: list[BatchResult] = []
    lab = Lab(
        tmp_path,
        {key: [think(f"{key}{n}") for n in range(5)] for key in "ab"},
        sinks=(FullDisk(),),
        write_reports=written.append,
    )
    with pytest.raises(LogWriteError, match="No space left"):
        await lab.run(planned("a", lab.source), planned("b", lab.source))
    assert written[-1].status == "interrupted"
    assert "passed" not in [result.outcome for result in written[-1].results]


async def test_a_report_that_cannot_be_written_ends_the_run_loudly(tmp_path: Path) -> None:
    def fail(_batch: BatchResult) -> None:
        raise LogWriteError("run.json: cannot be written: Read-only file system")

    lab = Lab(tmp_path, {"a": [says("a")]}, write_reports=fail)
    with pytest.raises(LogWriteError, match="Read-only"):
        await lab.run(planned("a", lab.source))
    assert not lab.events(TaskStart), "it is known before anything has cost anything"


@pytest.mark.parametrize("code", [130, 143])
async def test_a_signal_ends_all_tasks_within_seconds_with_its_exit_code(tmp_path: Path, code: int) -> None:
    sleeper = calls(ToolCall("c", "bash", {"command": "trap '' TERM; sleep 1008.77"}))
    lab = Lab(tmp_path, {key: [sleeper] for key in "abc"}, max_parallel=2)
    batch = lab.batch(*(planned(key, lab.source) for key in "abc"))
    running = asyncio.create_task(batch.run())
    while len(lab.providers) < 2:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)
    batch.cancel(code)
    result = await asyncio.wait_for(running, 5)
    assert (result.status, result.exit_code) == ("interrupted", code)
    assert [one.outcome for one in result.results] == ["error", "error"]
    assert result.totals.missing == 1


async def test_a_warning_from_outside_is_in_the_result(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"a": [says("a")]})
    batch = lab.batch(planned("a", lab.source))
    outcome: Any = None

    async def run() -> None:
        nonlocal outcome
        outcome = await batch.run()

    task = asyncio.create_task(run())
    while not lab.events(TaskStart):
        await asyncio.sleep(0)
    batch.warn("a", "the recording differs")
    await task
    assert "the recording differs" in outcome.results[0].warnings
