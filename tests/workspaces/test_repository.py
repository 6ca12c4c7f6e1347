"""workspace.repo: the agent's clone of another repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.mirrors import Mirror, Position
from pi_batch.workspaces.repository import Origin, repository_workspace
from pi_batch.workspaces.workspace import TrackedWorkspace
from tests.workspaces.mirroring import FILES, Forge
from tests.workspaces.repositories import files_of, git, write


class Opened(Forge):
    """A repository, and a workspace that is a clone of it."""

    async def open(
        self, ref: str | None = None, subdirectory: str = ".", name: str = "s"
    ) -> TrackedWorkspace:
        async def fetch() -> tuple[Mirror, Position]:
            mirror = await self.mirror()
            return mirror, await mirror.position(ref)

        state, spec_dir = self.base / name, self.base / "specs"
        state.mkdir(exist_ok=True)
        spec_dir.mkdir(exist_ok=True)
        workspace = repository_workspace(Origin(fetch, "r", subdirectory), spec_dir, state)
        self.warnings = await workspace.open()
        return workspace


@pytest.fixture
def forge(tmp_path: Path) -> Opened:
    return Opened(tmp_path)


async def test_the_agent_gets_the_repository_at_its_head_and_a_patch_comes_back(forge: Opened) -> None:
    workspace = await forge.open()
    head = git(forge.work, "rev-parse", "HEAD")
    assert workspace.start_commit == workspace.base_commit == head
    assert files_of(workspace.path) == {name: str(text).encode() for name, text in FILES.items()}
    assert git(workspace.path, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(workspace.path, "status", "--porcelain") == ""
    assert git(workspace.path, "remote") == ""
    write(Path(workspace.path), {"a.txt": "two\n"})
    assert b"+two" in (await workspace.changes([])).patch
    await workspace.close(keep=False)


@pytest.mark.slow
async def test_a_ref_a_directory_and_what_is_not_there(forge: Opened) -> None:
    topic = forge.push({"src/new.py": "z\n"}, branch="topic")
    workspace = await forge.open(topic, "src")
    assert sorted(files_of(workspace.path)) == ["b.py", "new.py", "sub/c.py"]
    assert git(workspace.path, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    write(Path(workspace.path), {"new.py": "changed\n"})
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["new.py"]
    assert b"src/new.py" in changes.patch
    with pytest.raises(WorkspaceError, match="has no directory 'nowhere'"):
        await forge.open(None, "nowhere", name="s2")
    with pytest.raises(WorkspaceError, match="no branch, tag or commit 'v9'"):
        await forge.open("v9", name="s3")
    assert not list((forge.base / "s2").iterdir())


@pytest.mark.slow
async def test_a_directory_that_is_a_link_out_of_the_repository_is_none(forge: Opened) -> None:
    (forge.work / "out").symlink_to("/etc")
    forge.push({})
    with pytest.raises(WorkspaceError, match="has no directory 'out'"):
        await forge.open(None, "out")


@pytest.mark.slow
async def test_a_kept_workspace_is_taken_up_without_a_fetch(forge: Opened) -> None:
    workspace = await forge.open()
    write(Path(workspace.path), {"a.txt": "half done\n"})
    start = workspace.start_commit
    await workspace.close(keep=True)
    forge.push({"a.txt": "moved on\n"})
    again = await forge.open()
    assert again.start_commit == start
    assert Path(again.path, "a.txt").read_text() == "half done\n"
    await again.close(keep=False)


@pytest.mark.slow
async def test_an_agent_that_wrecks_its_clone_harms_no_mirror(forge: Opened) -> None:
    workspace = await forge.open()
    for path in Path(workspace.path, ".git", "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"wrecked")
    await workspace.close(keep=False)
    again = await forge.open(name="again")
    assert files_of(again.path)["a.txt"] == b"one\n"
