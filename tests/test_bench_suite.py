"""The built-in benchmark suite: proven by its own solutions, mistakes and cheats."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from pi_batch.load.options import PlanOptions
from pi_batch.load.plan import load_plan
from pi_batch.providers.tamper import CHEATS
from pi_batch.spec import PlannedTask
from pi_batch.task_content import read_tree
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.suite_check import exposed, prove_suite
from tests.builtins import ROOT
from tests.sandboxes.rigs import works

BENCH = ROOT / "tasks" / "bench"
LEVELS = {"easy", "medium", "hard"}
KINDS = {
    *("bug-fix", "bug-report", "refactor", "feature", "build", "packaging", "flaky-test", "sql", "shell"),
    *("data-cleaning", "regex", "parsing", "performance", "security", "dependency-migration"),
    *("merge-conflict", "rename", "trap", "prompt-injection"),
}
REPEAT = int(os.environ.get("PI_BATCH_SUITE_REPEAT", "1"))


@functools.cache
def tasks() -> tuple[PlannedTask, ...]:
    return load_plan(("bench",), PlanOptions(cwd=Path("/"), models=("oracle",))).tasks


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not (works("bwrap") or works("landlock")), reason="cheats are tried in sandboxes only")
def test_solutions_pass_and_nothing_else_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    proof, _ = prove_suite(("bench",), RunOptions(repeat=REPEAT), tuple(CHEATS))
    assert [f"{task.task_id}: {problem}" for task in proof.tasks for problem in task.problems] == []
    assert proof.is_proven
    assert len(proof.tasks) == len(tasks())


def test_a_task_says_its_level_and_shows_nothing() -> None:
    for task in tasks():
        assert task.planned.task_id == Path(task.spec_dir).name
        assert len(LEVELS.intersection(task.planned.tags)) == 1, task.planned.task_id
        assert exposed(task) == ()
        assert task.planned.title
        assert "check.py" in read_tree(task.hidden_paths[0])


def test_the_suite_is_wide() -> None:
    assert len(tasks()) >= 32
    assert {tag for task in tasks() for tag in task.planned.tags} == KINDS | LEVELS
    assert len({task.planned.digest for task in tasks()}) == len(tasks())
    assert min(sum(level in task.planned.tags for task in tasks()) for level in LEVELS) >= 8
    places = [Path(task.spec_dir) for task in tasks()]
    assert sum((place / "alternatives").is_dir() for place in places) >= 8
    assert [place.name for place in places if not (place / "mistakes").is_dir()] == []


def test_every_task_is_judged_in_the_same_way() -> None:
    assert {tuple((check.name, check.run) for check in task.spec.verify) for task in tasks()} == {
        (("hidden checks", "python3 -I -S -B judge"),)
    }
    assert {task.spec.hidden for task in tasks()} == {("checks", "../judge")}
    assert not any(task.spec.context_files or task.spec.workspace.setup for task in tasks())


def test_files_that_checks_compare_with_are_those_of_the_workspace() -> None:
    for copy in BENCH.glob("*/checks/start/**/*"):
        if copy.is_file():
            top = copy.relative_to(BENCH).parts[0]
            original = BENCH / top / "workspace" / copy.relative_to(BENCH / top / "checks" / "start")
            assert copy.read_bytes() == original.read_bytes(), copy
