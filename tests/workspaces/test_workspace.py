"""A workspace over its life: cancelled, failed, side by side."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces import TABLE, open_workspace
from pi_batch.workspaces.workspace import Prepared, Request, TrackedWorkspace
from tests.workspaces.repositories import files_of, git, make_repository, state_of, write


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "p", {f"d{n % 7}/f{n}": f"{n}\n" for n in range(200)})


@pytest.mark.parametrize("isolation", sorted(TABLE))
@pytest.mark.parametrize("after_s", [0.0, 0.004, 0.012, 0.02])
async def test_a_workspace_cancelled_while_it_opens_leaves_nothing(
    isolation: str, after_s: float, source: Path, state_dir: Path
) -> None:
    before = state_of(source)
    task = asyncio.create_task(open_workspace(isolation, source, state_dir).open())
    await asyncio.sleep(after_s)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        assert list(state_dir.iterdir()) == []
    assert state_of(source) == before


async def test_a_failure_half_way_leaves_nothing(source: Path, state_dir: Path) -> None:
    async def prepare(request: Request) -> Prepared:
        write(request.tree_dir("x"), {"half": ""})
        write(request.shadow_dir, {"half": ""})
        raise OSError(28, "No space left on device")

    workspace = TrackedWorkspace("odd", prepare, source, state_dir, include_uncommitted=True, user_home=None)
    with pytest.raises(WorkspaceError, match="No space left"):
        await workspace.open()
    assert list(state_dir.iterdir()) == []


async def test_what_others_put_into_the_private_directory_is_not_touched(
    source: Path, state_dir: Path
) -> None:
    write(state_dir, {"scratch/x": ""})
    workspace = open_workspace("clone", source, state_dir)
    await workspace.open()
    await workspace.close(keep=False)
    assert sorted(files_of(state_dir)) == ["scratch/x"]


async def test_a_private_directory_that_is_missing_is_an_error(source: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="absent"):
        await open_workspace("clone", source, tmp_path / "absent").open()


async def test_many_workspaces_of_one_checkout_are_open_at_once(source: Path, tmp_path: Path) -> None:
    before = state_of(source)
    workspaces = []
    for number in range(4):
        (tmp_path / f"state{number}").mkdir()
        workspaces.append(open_workspace("clone", source, tmp_path / f"state{number}"))
    await asyncio.gather(*(workspace.open() for workspace in workspaces))
    for number, workspace in enumerate(workspaces):
        write(Path(workspace.path), {"mine": f"{number}\n"})
    found = await asyncio.gather(*(workspace.changes([]) for workspace in workspaces))
    assert [changes.patch.count(f"+{number}\n".encode()) for number, changes in enumerate(found)] == [1] * 4
    await asyncio.gather(*(workspace.close(keep=False) for workspace in workspaces))
    assert state_of(source) == before


async def test_a_missing_git_is_said_before_anything_is_made(
    source: Path, state_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pi_batch.git import find_git

    find_git.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceError, match="git: not found"):
        await open_workspace("clone", source, state_dir).open()
    assert list(state_dir.iterdir()) == []


@pytest.mark.slow
async def test_ten_thousand_files_are_opened_compared_and_copied(tmp_path: Path, state_dir: Path) -> None:
    source = make_repository(
        tmp_path / "p", {f"d{n % 97}/e{n % 11}/f{n}": f"{n}\n" * 20 for n in range(10_000)}
    )
    git(source, "gc", "-q")
    workspace = open_workspace("clone", source, state_dir)
    await workspace.open()
    assert (await workspace.changes(["**"])).patch == b""
    write(Path(workspace.path), {"d1/e1/f1": "changed\n", "new": ""})
    assert len((await workspace.changes(["d1/**"])).files) == 2
    copy = await workspace.clean_copy("patched", ["d1/**"])
    assert len(files_of(copy.path)) == 10_001
    await workspace.close(keep=False)
