"""What is remembered from night to night, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.nights import MAX_FAILURES, Memory, Tried, after, left_alone, name_of, task_sha256, too_early
from pi_batch.results import PlannedResult, RunError, RunResult
from pi_batch.spec import BudgetSpec, PlannedTask, TaskSpec, WorkspaceSpec
from tests.publishing.runs import result_of

BASE, OTHER = "a" * 40, "b" * 40


def task(**fields: Any) -> PlannedTask:
    spec = TaskSpec(**{"id": "t", "prompt": "p", **fields})
    return PlannedTask(PlannedResult("t--r", "t", "", "s.yaml", "0", "m/m", "night"), spec, "/", "m/m")


def result(outcome: str, base: str | None = BASE, **fields: Any) -> RunResult:
    values = {"outcome": outcome, "base_commit": base, "start_commit": base, "session": "s", "error": None}
    return replace(result_of(), **{**values, "started_at": "2026-12-01T02:00:00.000Z", **fields})


def tries(*results: RunResult, of: PlannedTask | None = None) -> Tried | None:
    """What is known after some nights."""
    tried: Tried | None = None
    for number, one in enumerate(results):
        tried = after(tried, of or task(), one, f"run{number}") or tried
    return tried


def test_a_task_that_failed_three_nights_at_the_same_commit_is_left_alone() -> None:
    failed = result("failed", reason="tests: exit code 1")
    digest = task_sha256(task())
    for nights in range(1, MAX_FAILURES):
        assert left_alone(tries(*[failed] * nights), digest, BASE) is None
    known = tries(*[failed] * MAX_FAILURES)
    assert known is not None
    assert (known.failures, known.run_id) == (3, "run2")
    reason = left_alone(known, digest, BASE)
    assert reason is not None
    assert "failed 3 times at this commit (aaaaaaaaaaaa)" in reason
    assert "last on 2026-12-01 (tests: exit code 1)" in reason
    assert "--try-again" in reason


def test_it_is_tried_again_when_the_commit_or_the_task_changes() -> None:
    known = tries(*[result("failed")] * 3)
    assert left_alone(known, task_sha256(task()), OTHER) is None
    assert left_alone(known, task_sha256(task(prompt="another")), BASE) is None
    assert left_alone(known, task_sha256(task(budget=BudgetSpec(turns=99))), BASE) is None
    assert left_alone(known, task_sha256(task()), None) is None
    assert left_alone(None, task_sha256(task()), BASE) is None


def test_failures_count_in_a_row_at_one_commit_and_task() -> None:
    failed = result("failed")
    assert getattr(tries(failed, failed, result("passed"), failed), "failures", None) == 1
    assert getattr(tries(failed, failed, result("failed", OTHER)), "failures", None) == 1
    changed = after(tries(failed, failed), task(prompt="x"), failed, "r")
    assert changed is not None
    assert changed.failures == 1


@pytest.mark.parametrize(
    "kind", ["rate_limit", "overloaded", "network", "auth", "workspace", "cancelled", "internal"]
)
def test_what_a_service_or_a_machine_failed_counts_neither_way(kind: str) -> None:
    down = result("error", error=RunError(kind, "down"))  # type: ignore[arg-type]
    assert tries(down) is None
    assert getattr(tries(result("failed"), down, down, result("failed")), "failures", None) == 2


@pytest.mark.parametrize("kind", ["setup", "verification", "context_overflow", "refusal"])
def test_what_comes_again_at_the_same_commit_is_a_failure(kind: str) -> None:
    error = result("error", error=RunError(kind, "broken"))  # type: ignore[arg-type]
    assert getattr(tries(error, error, error), "failures", None) == 3


@pytest.mark.parametrize("by", ["only_if", "left_alone", "budget"])
def test_what_was_not_tried_is_not_remembered(by: str) -> None:
    assert tries(result("skipped", skipped_by=by)) is None
    assert tries(result("failed", session=None)) is None


def test_where_it_last_passed_or_had_nothing_to_do_is_kept_through_failures() -> None:
    known = tries(result("passed"), result("failed", OTHER))
    assert known is not None
    assert (known.done_base, known.base) == (BASE, OTHER)
    nothing = tries(result("failed"), result("skipped", OTHER, skipped_by="precheck"))
    assert nothing is not None
    assert (nothing.done_base, nothing.failures) == (OTHER, 0)


def test_files_that_are_not_as_committed_have_no_commit_to_compare_with() -> None:
    dirty = result("failed", start_commit=OTHER)
    known = tries(dirty, dirty, dirty, dirty)
    assert known is not None
    assert (known.base, known.failures) == ("", 1)
    assert left_alone(known, task_sha256(task()), BASE) is None


def test_no_credentials_are_in_what_is_remembered() -> None:
    first = task_sha256(task(workspace=WorkspaceSpec(repo="https://me:hunter2@h/a")))
    second = task_sha256(task(workspace=WorkspaceSpec(repo="https://me:another@h/a")))
    assert first == second


def test_memory_holds_the_last_try_of_each_task_and_forgets_what_is_old() -> None:
    first = tries(result("failed"))
    assert first is not None
    old = replace(first, name="night/old", ran_at="2024-01-01T00:00:00Z")
    again = replace(first, outcome="passed")
    memory = Memory().with_tried(old).with_tried(first).with_tried(again)
    assert memory.tasks == (again,)
    assert memory.of(name_of(task())) == again
    assert memory.of("night/old") is None


@pytest.mark.parametrize(
    ("days", "now", "runs"),
    [
        (7, "2026-12-08T02:00:00Z", True),
        (7, "2026-12-08T01:30:00Z", True),  # a timer is never on the second
        (7, "2026-12-07T02:00:00Z", False),
        (0.5, "2026-12-01T20:00:00Z", True),
        (1, "not a time", True),
    ],
)
def test_days_since_the_last_run(days: float, now: str, runs: bool) -> None:
    reason = too_early(tries(result("failed")), days, now)
    assert (reason is None) == runs
    assert too_early(None, days, now) is None
    assert reason is None or f"every {days:g} is enough" in reason
