"""only_if before anything is made: what changed, how long ago, and what is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.nights import Tried, task_sha256
from pi_batch.results import Outcome, PlannedResult, Skip
from pi_batch.spec import OnlyIf, PlannedTask, TaskSpec, WorkspaceSpec
from pi_batch.wiring.gates import Gate
from pi_batch.wiring.memory import MemoryFile, memory_held
from pi_batch.wiring.repositories import Repositories
from pi_batch.wiring.surroundings import Surroundings
from tests.clocks import FakeClock
from tests.workspaces.mirroring import Forge
from tests.workspaces.repositories import commit, git, write

RAN_AT = "2026-01-01T00:00:00.000Z"
"""A good quarter of an hour before `FakeClock` begins."""


class Night:
    """A repository, a memory and a gate."""

    def __init__(self, base: Path, memory: MemoryFile) -> None:
        self.base = base
        self.forge = Forge(base)
        self.memory = memory
        self.clock = FakeClock()
        self.head = git(self.forge.work, "rev-parse", "HEAD")

    def task(self, path: str = ".", *, is_elsewhere: bool = False, **only_if: Any) -> PlannedTask:
        repo = str(self.forge.bare) if is_elsewhere else None
        spec = TaskSpec(
            id="t",
            prompt="p",
            workspace=WorkspaceSpec(path=path, repo=repo),
            only_if=OnlyIf(**only_if) if only_if else None,
        )
        planned = PlannedResult("t", "t", "", "s", "0", "m/m", "night")
        return PlannedTask(planned, spec, str(self.forge.work), "m/m")

    def remember(self, task: PlannedTask, failures: int = 0, done_base: str | None = None) -> None:
        base = self.head if done_base is None else done_base
        outcome: Outcome = "failed" if failures else "passed"
        self.memory.add(
            Tried("night/t", task_sha256(task), self.head, outcome, "why", RAN_AT, "r", failures, base)
        )

    async def skip(self, task: PlannedTask, *, tries_again: bool = False) -> Skip | None:
        around = Surroundings(self.base, self.forge.environ)
        repositories = Repositories(around, self.base / "mirrors")
        return await Gate(repositories, self.memory, self.clock, None, tries_again).skip(task)

    async def reason(self, task: PlannedTask) -> str:
        found = await self.skip(task)
        assert found is not None
        assert found.by == "only_if"
        return found.reason


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    with ExitStack() as stack:
        memory = stack.enter_context(memory_held(tmp_path / "state"))
        assert memory is not None
        yield Night(tmp_path, memory)


async def test_without_a_condition_and_a_past_everything_runs(night: Night) -> None:
    assert await night.skip(night.task()) is None
    assert await night.skip(night.task(changed=("**",))) is None
    assert await night.skip(night.task(days=7.0)) is None


@pytest.mark.slow
@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_changed_looks_at_commits_since_the_task_last_passed(night: Night, is_elsewhere: bool) -> None:
    task = night.task(is_elsewhere=is_elsewhere, changed=("src/**", "!src/sub/**"))
    night.remember(task)
    reason = await night.reason(task)
    assert (
        reason == f"only_if: nothing in src/**, !src/sub/** changed since the last time ({night.head[:12]})"
    )
    night.forge.push({"a.txt": "x\n", "src/sub/c.py": "x\n"})
    assert await night.skip(task) is not None
    night.forge.push({"src/b.py": "x = 2\n"})
    assert await night.skip(task) is None


@pytest.mark.slow
async def test_globs_are_relative_to_the_workspace(night: Night) -> None:
    task = night.task("src", changed=("**",))
    night.remember(task)
    write(night.forge.work, {"a.txt": "outside\n"})
    commit(night.forge.work, "outside")
    assert await night.skip(task) is not None
    write(night.forge.work, {"src/new.py": "inside\n"})
    commit(night.forge.work, "inside")
    assert await night.skip(task) is None


@pytest.mark.slow
async def test_a_failure_is_tried_again_though_nothing_changed(night: Night) -> None:
    task = night.task(changed=("**",))
    night.remember(task, failures=1, done_base="")
    assert await night.skip(task) is None


@pytest.mark.slow
async def test_a_commit_that_is_gone_tells_nothing(night: Night) -> None:
    task = night.task(changed=("**",))
    night.remember(task, done_base="f" * 40)
    assert await night.skip(task) is None


@pytest.mark.slow
@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_changed_since_a_ref(night: Night, is_elsewhere: bool) -> None:
    git(night.forge.work, "tag", "v1")
    git(night.forge.work, "push", "-q", "origin", "v1")
    task = night.task(is_elsewhere=is_elsewhere, changed=("**",), since="v1")
    assert "changed since v1" in await night.reason(task)
    night.forge.push({"a.txt": "x\n"})
    assert await night.skip(task) is None
    with pytest.raises(WorkspaceError, match="'v9'"):
        await night.skip(night.task(is_elsewhere=is_elsewhere, changed=("**",), since="v9"))


async def test_days_since_the_last_run_are_counted_without_looking_at_the_repository(night: Night) -> None:
    task = night.task("nowhere", days=2.0)
    night.remember(task)
    assert "ran 0.0 days ago, and every 2 is enough" in await night.reason(task)
    assert await night.skip(task, tries_again=True) is None
    night.clock.advance(2 * 86_400)
    assert await night.skip(task) is None


@pytest.mark.slow
async def test_what_failed_three_times_is_left_alone_until_something_changes(night: Night) -> None:
    task = night.task(is_elsewhere=True)
    night.remember(task, failures=3)
    found = await night.skip(task)
    assert found is not None
    assert found.by == "left_alone"
    assert await night.skip(task, tries_again=True) is None
    assert await night.skip(night.task(is_elsewhere=True, days=0.001)) is None
    night.forge.push({"a.txt": "x\n"})
    assert await night.skip(task) is None


async def test_a_directory_without_a_repository_has_no_commits_to_look_at(night: Night) -> None:
    task = night.task("..", changed=("**",))
    night.remember(task, failures=3)
    assert await night.skip(task) is None
