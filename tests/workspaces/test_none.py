"""isolation: none, in the user's own directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, find_git
from pi_batch.workspaces import none, open_workspace
from pi_batch.workspaces.listing import IgnoreRules
from pi_batch.workspaces.shadow import Shadow
from pi_batch.workspaces.tracking import Tracking
from pi_batch.workspaces.workspace import Request
from tests.workspaces.conftest import Opener
from tests.workspaces.repositories import commit, files_of, git, make_repository, shell, state_of, write


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(
        tmp_path / "proj", {"a.txt": "base\n", "src/app.py": "x = 1\n", ".gitignore": ".env\n"}
    )


async def test_the_workspace_is_the_users_directory(source: Path, opened: Opener) -> None:
    workspace = await opened("none", source)
    assert workspace.path == str(source)
    assert workspace.base_commit == workspace.start_commit == git(source, "rev-parse", "HEAD")


async def test_uncommitted_work_of_the_user_is_not_in_the_patch(source: Path, opened: Opener) -> None:
    shell(
        source, "echo user-edit >> a.txt; echo user-new > mine.txt; echo user-staged > st.txt; git add st.txt"
    )
    workspace = await opened("none", source)
    write(source, {"made.txt": "made\n"})
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["made.txt"]
    assert b"user" not in changes.patch


async def test_paths_are_as_seen_from_a_subdirectory(source: Path, opened: Opener) -> None:
    workspace = await opened("none", source / "src")
    assert workspace.path == str(source / "src")
    write(source, {"src/app.py": "x = 2\n", "a.txt": "2\n"})
    assert [file.path for file in (await workspace.changes([])).files] == ["../a.txt", "app.py"]


async def test_an_ignored_file_stays_out_of_the_patch_when_the_rules_change(
    source: Path, opened: Opener
) -> None:
    write(source, {".env": "TOKEN=secret\n", ".git/info/exclude": "private/\n", "private/key": "secret\n"})
    workspace = await opened("none", source)
    write(source, {".gitignore": "!private/\n", ".git/info/exclude": "", "new": ""})
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == [".gitignore", "new"]
    assert b"secret" not in changes.patch


async def test_repositories_inside_that_were_there_are_not_the_agents_work(
    source: Path, opened: Opener
) -> None:
    make_repository(source / "vendor" / "lib", {"l.py": ""})
    workspace = await opened("none", source)
    write(source, {"vendor/lib/l.py": "changed\n"})
    assert (await workspace.changes([])).patch == b""
    make_repository(source / "made", {"m.py": ""})
    assert [file.path for file in (await workspace.changes([])).files] == ["made/m.py"]


async def test_the_start_outlives_the_users_repository(source: Path, opened: Opener) -> None:
    workspace = await opened("none", source)
    shell(source, "rm -rf .git; echo 2 > a.txt")
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["a.txt"]
    copy = await workspace.clean_copy("start", [])
    assert files_of(copy.path)["a.txt"] == b"base\n"


async def test_runs_of_ours_are_not_the_agents_work(source: Path) -> None:
    state = source / "tmp" / "run"
    state.mkdir(parents=True)
    workspace = open_workspace("none", source, state)
    await workspace.open()
    write(source, {".pi-batch/runs/1/run.json": "{}", "tmp/run/scratch/x": "", "tmp/other": ""})
    assert [file.path for file in (await workspace.changes([])).files] == ["tmp/other"]
    await workspace.close(keep=False)


async def test_a_directory_without_a_repository_is_tracked_when_it_is_small(
    tmp_path: Path, opened: Opener
) -> None:
    write(tmp_path / "plain", {"a.txt": "1\n", "d/b": "", "node_modules/p": ""})
    before = state_of(tmp_path / "plain")
    workspace = await opened("none", tmp_path / "plain")
    assert workspace.base_commit is None
    assert workspace.start_commit is not None
    assert state_of(tmp_path / "plain") == before
    write(tmp_path / "plain", {"a.txt": "2\n", "node_modules/p": "2\n"})
    changes = await workspace.changes(["a.txt"])
    assert [file.path for file in changes.files] == ["a.txt"]
    copy = await workspace.clean_copy("patched", ["a.txt"])
    assert files_of(copy.path) == {"a.txt": b"1\n", "d/b": b""}


async def test_a_large_directory_without_a_repository_is_worked_in_untracked(
    tmp_path: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(none, "MAX_FILES", 3)
    write(tmp_path / "plain", {f"{number}": "" for number in range(4)})
    workspace = open_workspace("none", tmp_path / "plain", state_dir)
    (warning,) = await workspace.open()
    assert "not tracked" in warning
    assert workspace.start_commit is None
    write(tmp_path / "plain", {"0": "changed\n"})
    changes = await workspace.changes(["**"])
    assert (changes.patch, changes.files, changes.protected_touched) == (b"", (), ())
    assert await workspace.start_file("0") is None
    with pytest.raises(WorkspaceError, match="isolation: copy"):
        await workspace.clean_copy("start", [])
    await workspace.close(keep=False)
    assert files_of(tmp_path / "plain").keys() == {"0", "1", "2", "3"}


async def test_many_bytes_make_a_directory_large_too(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(none, "MAX_BYTES", 10)
    write(tmp_path / "plain", {"a": "x" * 11})
    workspace = await opened("none", tmp_path / "plain")
    assert workspace.start_commit is None


async def test_a_directory_that_takes_long_to_list_is_large(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(none, "LIST_TIMEOUT_S", 0.0)
    write(tmp_path / "plain", {"a": ""})
    workspace = await opened("none", tmp_path / "plain")
    assert workspace.start_commit is None


async def test_execute_bits_that_the_disk_makes_up_are_no_change(source: Path, opened: Opener) -> None:
    git(source, "config", "core.fileMode", "false")
    workspace = await opened("none", source)
    shell(source, "chmod +x a.txt; echo n > new; chmod +x new")
    (file,) = (await workspace.changes([])).files
    assert file.path == "new"
    assert b"new file mode 100644" in (await workspace.changes([])).patch


async def test_the_agents_own_commits_do_not_empty_the_patch(source: Path, opened: Opener) -> None:
    workspace = await opened("none", source)
    write(source, {"a.txt": "work\n"})
    commit(source, "by the agent")
    assert [file.path for file in (await workspace.changes([])).files] == ["a.txt"]


async def test_a_directory_that_nobody_touches_takes_three_runs_of_git(tmp_path: Path) -> None:
    counted, runs = tmp_path / "git", tmp_path / "runs"
    counted.write_text(f'#!/bin/sh\necho "$1" >> {runs}\nexec {find_git()} "$@"\n')
    counted.chmod(0o755)
    write(tmp_path, {"top/a.txt": "1\n", "top/d/b.txt": "2\n", "state/x": ""})
    top, state = tmp_path / "top", tmp_path / "state"
    request = Request(Git(str(counted)), top, top, state, include_uncommitted=True, rules=IgnoreRules())
    prepared = await none.prepare(request)
    assert prepared.start is not None
    shadow = Shadow(request.git, request.shadow_dir, "sha1")
    tracking = Tracking(shadow, state, prepared.start, request.rules, prepared.stored)
    assert not (await tracking.changes(())).files
    assert runs.read_text().split() == ["ls-files"] * 3
