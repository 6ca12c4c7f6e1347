"""What proves a suite, and what keeps it from being proven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.results import BatchResult, RunResult, SandboxReport, VerificationResult
from pi_batch.spec import PlannedTask, TaskSpec
from pi_batch.suite_proof import SuiteProof, Wanted, models_for, prove, trial
from tests.benches import make_task
from tests.reports.batches import one_of_everything
from tests.streams import planned

WALLS = SandboxReport("bwrap", ("its own files",))
WANTED: dict[str, dict[str, Wanted]] = {"answer": {"oracle": "passed", "nop": "failed", "tamper/x": "failed"}}


def task(directory: Path) -> PlannedTask:
    spec = TaskSpec(id="answer", prompt="p", hidden=("checks",), solution="solution")
    shown = replace(planned("answer", task_id="answer"), digest="d" * 64, edition="7", suite="small")
    return PlannedTask(shown, spec, str(directory), "oracle")


def result(model: str, outcome: str, **fields: Any) -> RunResult:
    base = one_of_everything().results[0]
    check = VerificationResult("c", "true", 0, outcome == "passed", 0.1, 1)
    values = {"task_id": "answer", "sandbox": WALLS, "verification": (check,), "duration_s": 0.5, **fields}
    return replace(base, **{"model": model, "outcome": outcome, **values})


def batch(*results: RunResult, **fields: Any) -> BatchResult:
    return replace(one_of_everything(), **{"status": "complete", "results": results, **fields})


def proof(*results: RunResult, exposed: tuple[str, ...] = (), **fields: Any) -> SuiteProof:
    return prove([task(Path("/x"))], WANTED, batch(*results, **fields), {"answer": exposed})


GOOD = (result("oracle", "passed"), result("nop", "failed"), result("tamper/x", "failed"))


def test_a_task_is_tried_with_everything_that_lies_beside_it(tmp_path: Path) -> None:
    made = dict(models_for(task(make_task(tmp_path / "answer")), ("conftest", "exit-zero")))
    assert made == {
        "oracle": "passed",
        "nop": "failed",
        "oracle/alternatives/no-newline": "passed",
        "oracle/mistakes/off-by-one": "failed",
        "tamper/conftest": "failed",
        "tamper/exit-zero": "failed",
    }


def test_a_trial_has_a_key_of_its_own() -> None:
    one = trial(task(Path("/x")), "oracle/mistakes/a b", 2, shows_repeat=True)
    assert one.planned.key == "answer--oracle-mistakes-a-b--2"
    assert (one.model, one.planned.model, one.planned.repeat) == (
        *("oracle/mistakes/a b", "oracle/mistakes/a b"),
        2,
    )
    assert trial(task(Path("/x")), "nop", 1, shows_repeat=False).planned.key == "answer--nop"


def test_all_as_wanted_is_proven() -> None:
    made = proof(*GOOD)
    assert (made.is_proven, made.is_error, made.sandbox) == (True, False, "bwrap")
    assert (made.suite, made.edition) == ("small", "7")
    (only,) = made.tasks
    assert (only.problems, only.digest, only.duration_s) == ((), "d" * 64, 1.5)
    assert (only.count("oracle"), only.count("nop"), only.count("tamper")) == ((1, 1), (1, 1), (1, 1))


@pytest.mark.parametrize(
    ("results", "problem"),
    [
        ((result("oracle", "failed"), *GOOD[1:]), "oracle: failed, need passed ("),
        ((GOOD[0], result("nop", "passed"), GOOD[2]), "nop: passed, need failed ("),
        ((*GOOD[:2], result("tamper/x", "passed")), "tamper/x: passed, need failed ("),
        (GOOD[:2], "tamper/x: was not run"),
        ((*GOOD[:2], result("tamper/x", "failed", verification=())), "tamper/x: failed before any check"),
        ((*GOOD[:2], result("tamper/x", "failed", sandbox=None)), "tamper/x: was run without a sandbox"),
        (
            (*GOOD, result("nop", "failed", verification=())),
            "nop: failed before any check was run",
        ),
    ],
)
def test_anything_else_is_not(results: tuple[RunResult, ...], problem: str) -> None:
    made = proof(*results)
    assert not made.is_proven
    (only,) = made.tasks
    assert any(one.startswith(problem) for one in only.problems), only.problems


def test_repeats_that_differ_are_told() -> None:
    other = VerificationResult("c", "true", 2, False, 0.1, 1)
    flaky = proof(*GOOD, result("nop", "failed", verification=(other,)))
    assert flaky.tasks[0].problems == ("nop: its checks do not say the same each time",)
    lucky = proof(*GOOD, result("oracle", "failed", reason="r"))
    assert lucky.tasks[0].problems == ("oracle: failed, need passed (r) in 1 of 2 repeats",)


def test_a_workspace_that_shows_too_much_is_not_proven() -> None:
    made = proof(*GOOD, exposed=(".git: a repository shows its history",))
    assert made.tasks[0].problems == (".git: a repository shows its history",)
    assert not made.is_proven


def test_a_trial_that_could_not_be_made_is_an_error() -> None:
    assert proof(*GOOD[:2], result("tamper/x", "error")).is_error
    cut = proof(*GOOD, status="interrupted")
    assert (cut.is_proven, cut.is_error) == (False, True)
