"""Trials that are carried out elsewhere, in a batch: one stream, one budget, one result each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from pi_batch.errors import ExecutorError
from pi_batch.events import Record, Warned
from pi_batch.fold import fold
from pi_batch.protocols import Trial
from pi_batch.results import BatchResult
from pi_batch.spec import SuiteBudgetSpec
from tests.engine.tasks import Lab, planned
from tests.streams import Stream


class Elsewhere:
    """An executor of the test's own: gives records as a trial's log has them."""

    name = "elsewhere"
    is_remote = True

    def __init__(self, records: Callable[[str], list[Record]], said: str = "") -> None:
        self.trials: list[Trial] = []
        self.most_at_once = 0
        self._records = records
        self._said = said
        self._running = 0

    async def start(self) -> int | None:
        return 2

    async def run(self, trial: Trial) -> str:
        self.trials.append(trial)
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        await asyncio.sleep(0)
        for record in self._records(trial.key):
            trial.take(record)
        self._running -= 1
        return self._said

    async def close(self) -> None:
        """Nothing is held."""


def passed(key: str) -> list[Record]:
    stream = Stream().start(key, has_checks=True).agent(key).check(key).end(key)
    return [record for record in stream.records if record.key == key]


async def ran(lab: Lab, executor: Elsewhere, *keys: str) -> BatchResult:
    lab.executor = executor
    return await lab.run(*(planned(key, lab.source) for key in keys))


async def test_records_join_the_stream_with_their_times_and_new_numbers(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {})
    batch = await ran(lab, Elsewhere(passed), "a", "b")
    assert [result.outcome for result in batch.results] == ["passed", "passed"]
    assert fold(lab.records()) == batch
    numbers = [record.seq for record in lab.records()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert batch.results[0].duration_s == 10.0


async def test_no_more_run_at_once_than_the_executor_takes(tmp_path: Path) -> None:
    executor = Elsewhere(passed)
    await ran(Lab(tmp_path, {}), executor, *"abcde")
    assert executor.most_at_once == 2
    assert sorted(trial.key for trial in executor.trials) == list("abcde")


async def test_a_trial_that_comes_to_no_end_is_an_error_with_what_was_said(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {})
    batch = await ran(lab, Elsewhere(lambda _key: [], "no plan.json there"), "a")
    (result,) = batch.results
    assert (result.outcome, result.error and result.error.kind) == ("error", "internal")
    assert "no plan.json there" in result.reason
    assert batch.exit_code == 3


async def test_a_trial_that_stopped_in_the_middle_keeps_what_it_spent(tmp_path: Path) -> None:
    batch = await ran(Lab(tmp_path, {}), Elsewhere(lambda key: passed(key)[:-1], "exit code -9"), "a")
    (result,) = batch.results
    assert (result.outcome, result.num_turns) == ("error", 1)
    assert "exit code -9" in result.reason


async def test_every_trial_has_its_part_of_the_suites_budget(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {}, budget=SuiteBudgetSpec(turns=3))
    executor = Elsewhere(passed)
    batch = await ran(lab, executor, *"abcd")
    assert all((trial.limit.turns or 0) <= 3 for trial in executor.trials)
    assert [result.outcome for result in batch.results].count("skipped") == 1
    assert batch.totals.num_turns == 3
    assert batch.exit_code == 1


async def test_warnings_that_every_trial_says_are_said_once(tmp_path: Path) -> None:
    def records(key: str) -> list[Record]:
        first = passed(key)[0]
        return [replace(first, key=None, event=Warned("nothing is isolated")), *passed(key)]

    batch = await ran(Lab(tmp_path, {}), Elsewhere(records), *"abc")
    assert batch.warnings == ("nothing is isolated",)


async def test_an_executor_that_is_lost_ends_the_run_with_everything_written(tmp_path: Path) -> None:
    def lost(key: str) -> list[Record]:
        if key == "b":
            raise ExecutorError("the scheduler is gone")
        return passed(key)

    lab = Lab(tmp_path, {}, max_parallel=1)
    with pytest.raises(ExecutorError, match="the scheduler is gone"):
        await ran(lab, Elsewhere(lost), *"abc")
    batch = fold(lab.records())
    assert (batch.status, batch.exit_code, batch.totals.passed) == ("interrupted", 3, 1)
    assert lab.collected.is_closed
