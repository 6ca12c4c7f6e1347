"""isolation: copy, of directories with and without a repository."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from pi_batch.workspaces import open_workspace
from tests.workspaces.conftest import Opener
from tests.workspaces.repositories import commit, files_of, git, make_repository, shell, state_of, write


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write(tmp_path / "stuff", {"a.txt": "base\n", "src/app.py": "x = 1\n", ".env": "TOKEN=t\n"})
    return tmp_path / "stuff"


async def opening(source: Path, state_dir: Path) -> tuple[str, ...]:
    workspace = open_workspace("copy", source, state_dir)
    warnings = await workspace.open()
    await workspace.close(keep=False)
    return warnings


async def test_a_plain_directory_is_copied_whole(source: Path, opened: Opener) -> None:
    shell(source, "mkdir -p empty/inner locked; chmod 750 src; chmod 600 .env; touch -d @1000000000 a.txt")
    workspace = await opened("copy", source)
    top = Path(workspace.path)
    assert files_of(top) == files_of(source)
    assert (top / "empty" / "inner").is_dir()
    assert (top / "a.txt").stat().st_mtime == 1_000_000_000
    assert ((top / ".env").stat().st_mode & 0o777, (top / "src").stat().st_mode & 0o777) == (0o600, 0o750)
    assert workspace.base_commit is None
    assert not (top / ".git").exists()


async def test_empty_directories_are_in_clean_copies_too(source: Path, opened: Opener) -> None:
    (source / "logs" / "old").mkdir(parents=True)
    workspace = await opened("copy", source)
    copy = await workspace.clean_copy("start", [])
    assert Path(copy.path, "logs", "old").is_dir()
    assert files_of(copy.path) == files_of(source)


async def test_changes_of_a_plain_directory_are_tracked(source: Path, opened: Opener) -> None:
    workspace = await opened("copy", source)
    write(Path(workspace.path), {"src/app.py": "x = 2\n", ".env": "TOKEN=u\n", "new": ""})
    changes = await workspace.changes([".env"])
    assert [file.path for file in changes.files] == [".env", "new", "src/app.py"]
    copy = await workspace.clean_copy("patched", [".env"])
    assert Path(copy.path, ".env").read_text() == "TOKEN=t\n"


async def test_ignored_files_of_a_repository_are_copied_and_watched(tmp_path: Path, opened: Opener) -> None:
    source = make_repository(tmp_path / "p", {".gitignore": "*.cfg\nout/\n", "a.txt": "1\n"})
    write(source, {"local.cfg": "1\n", "out/x": "1\n"})
    workspace = await opened("copy", source)
    assert files_of(workspace.path) == files_of(source)
    write(Path(workspace.path), {"local.cfg": "2\n", "out/x": "2\n", "out/new": "", "new.cfg": ""})
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["local.cfg", "out/x"]
    copy = await workspace.clean_copy("start", [])
    assert Path(copy.path, "out/x").read_text() == "1\n"


async def test_git_shows_in_the_copy_what_it_shows_to_the_user(tmp_path: Path, opened: Opener) -> None:
    source = make_repository(tmp_path / "p", {"a.txt": "1\n", "b.txt": "1\n", ".gitignore": "*.log\n"})
    shell(source, "echo 2 > a.txt; rm b.txt; touch new x.log")
    workspace = await opened("copy", source)
    say = "git status --porcelain; git log --format=%H; git symbolic-ref HEAD; git stash list"
    assert shell(workspace.path, say) == shell(source, say)
    assert workspace.base_commit == git(source, "rev-parse", "HEAD")
    before = state_of(source)
    shell(
        workspace.path,
        "git add -A; git -c user.name=a -c user.email=b commit -qm mine; git gc -q --prune=now",
    )
    assert state_of(source) == before
    assert (await workspace.changes([])).patch == b""


async def test_a_repository_without_a_commit_is_copied(tmp_path: Path, opened: Opener) -> None:
    source = tmp_path / "p"
    source.mkdir()
    shell(source, "git init -q -b trunk; touch a; git add a")
    workspace = await opened("copy", source)
    assert git(workspace.path, "status", "--porcelain") == "?? a"
    assert git(workspace.path, "symbolic-ref", "HEAD") == "refs/heads/trunk"
    copy = await workspace.clean_copy("patched", [])
    assert git(copy.path, "status", "--porcelain") == "?? a"


async def test_a_subdirectory_of_a_repository_is_copied_alone(tmp_path: Path, opened: Opener) -> None:
    source = make_repository(tmp_path / "p", {"sub/a.txt": "1\n", "b.txt": ""})
    workspace = await opened("copy", source / "sub")
    assert files_of(workspace.path) == {"a.txt": b"1\n"}
    assert shell(workspace.path, "git rev-parse 2>/dev/null || echo none") == "none\n"


async def test_no_git_of_the_user_is_reachable_from_the_copy(
    tmp_path: Path, state_dir: Path, opened: Opener
) -> None:
    source = make_repository(tmp_path / "p", {"a.txt": "1\n"})
    git(source, "worktree", "add", "-q", "-b", "wt", "trees/wt")
    make_repository(source / "vendor" / "lib", {"l.py": ""})
    workspace = await opened("copy", source)
    assert [path for path in Path(workspace.path).rglob(".git")] == [Path(workspace.path, ".git")]  # noqa: C416
    assert Path(workspace.path, "trees/wt/a.txt").exists()
    await workspace.close(keep=False)
    warnings = await opening(source, state_dir)
    assert [text for text in warnings if "'trees/wt/.git'" in text and "'vendor/lib/.git'" in text]


async def test_a_linked_work_tree_is_copied_with_a_repository_of_its_own(
    tmp_path: Path, opened: Opener
) -> None:
    main = make_repository(tmp_path / "p", {"a.txt": "1\n"})
    git(main, "worktree", "add", "-q", "-b", "wt", "../linked")
    before = state_of(main)
    workspace = await opened("copy", tmp_path / "linked")
    shell(workspace.path, "git -c user.name=a -c user.email=b commit -q --allow-empty -m x")
    assert state_of(main) == before
    assert git(workspace.path, "symbolic-ref", "HEAD") == "refs/heads/wt"


async def test_a_broken_repository_is_copied_without_it_and_said(source: Path, state_dir: Path) -> None:
    write(source, {".git": "gitdir: /nonexistent\n"})
    warnings = await opening(source, state_dir)
    assert [text for text in warnings if "without its repository" in text]


async def test_what_is_no_file_is_passed_over_and_said(source: Path, state_dir: Path, opened: Opener) -> None:
    os.mkfifo(source / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(source)  # a socket's path may be no longer than 107 bytes
        server.bind("sock")
        os.chdir(here)
    workspace = await opened("copy", source)
    assert sorted(path.name for path in Path(workspace.path).iterdir()) == [".env", "a.txt", "src"]
    await workspace.close(keep=False)
    warnings = await opening(source, state_dir)
    assert [text for text in warnings if "'pipe'" in text and "'sock'" in text]


async def test_links_are_copied_as_links_and_those_into_the_source_stay_inside(
    source: Path, opened: Opener
) -> None:
    shell(source, 'ln -s a.txt rel; ln -s "$PWD/src" abs; ln -s /etc out; ln -s . self; ln -s gone dangling')
    workspace = await opened("copy", source)
    found = files_of(workspace.path)
    assert [found[name] for name in ("rel", "abs", "out", "self", "dangling")] == [
        b"-> a.txt", b"-> src", b"-> /etc", b"-> .", b"-> gone",
    ]  # fmt: skip
    copy = await workspace.clean_copy("patched", [])
    assert files_of(copy.path) == found


async def test_by_products_are_copied_but_never_in_a_patch(source: Path, opened: Opener) -> None:
    write(source, {"node_modules/p/i.js": "1\n", "src/__pycache__/app.pyc": b"\1", ".venv/lib/x.py": "1\n"})
    workspace = await opened("copy", source)
    write(
        Path(workspace.path),
        {
            "node_modules/p/i.js": "2\n",
            "node_modules/q/i.js": "",
            "src/__pycache__/app.pyc": b"\2",
            ".venv/lib/y": "",
        },
    )
    shell(workspace.path, "rm .venv/lib/x.py; echo x > src/app.py")
    changes = await workspace.changes(["src/**"])
    assert [file.path for file in changes.files] == ["src/app.py"]
    copy = await workspace.clean_copy("patched", [])
    found = files_of(copy.path)
    assert found["node_modules/p/i.js"] == b"1\n"
    assert found["src/__pycache__/app.pyc"] == b"\1"
    assert ".venv/lib/x.py" in found


async def test_a_virtual_environment_of_any_name_stays_as_it_was(source: Path, opened: Opener) -> None:
    write(source, {"env/pyvenv.cfg": "", "env/lib/x.py": "1\n"})
    workspace = await opened("copy", source)
    write(Path(workspace.path), {"env/lib/x.py": "2\n", "env/lib/new.py": ""})
    assert (await workspace.changes([])).patch == b""


async def test_a_file_where_by_products_were_does_not_break_the_patch(source: Path, opened: Opener) -> None:
    write(source, {"venv/lib/x.py": "1\n"})
    workspace = await opened("copy", source)
    shell(workspace.path, "rm -r venv; echo file > venv")
    assert (await workspace.changes([])).patch == b""
    copy = await workspace.clean_copy("patched", [])
    assert Path(copy.path, "venv/lib/x.py").exists()


async def test_by_products_that_the_repository_tracks_are_work(tmp_path: Path, opened: Opener) -> None:
    source = make_repository(tmp_path / "p", {"node_modules/p/i.js": "1\n"})
    write(source, {"node_modules/q/i.js": "1\n"})
    workspace = await opened("copy", source)
    write(Path(workspace.path), {"node_modules/p/i.js": "2\n", "node_modules/q/i.js": "2\n"})
    assert [file.path for file in (await workspace.changes([])).files] == ["node_modules/p/i.js"]


async def test_a_copied_virtual_environment_is_said_to_name_the_original(
    source: Path, state_dir: Path
) -> None:
    write(source, {".venv/pyvenv.cfg": "home = /usr/bin\n"})
    assert [text for text in await opening(source, state_dir) if "'.venv'" in text]


async def test_runs_of_ours_are_not_copied(source: Path, opened: Opener) -> None:
    write(source, {".pi-batch/runs/1/run.json": "{}"})
    workspace = await opened("copy", source)
    assert not Path(workspace.path, ".pi-batch").exists()


async def test_a_copy_of_a_directory_that_holds_the_temporary_one_ends(source: Path) -> None:
    state = source / "tmp" / "run"
    state.mkdir(parents=True)
    workspace = open_workspace("copy", source, state)
    await workspace.open()
    assert sorted(files_of(workspace.path)) == [".env", "a.txt", "src/app.py"]
    assert Path(workspace.path, "tmp").is_dir()
    await workspace.close(keep=False)


async def test_names_that_git_refuses_are_copied_and_said_once(
    source: Path, state_dir: Path, opened: Opener
) -> None:
    write(source, {"git~1": "x\n", ".GIT/x": ""})
    workspace = await opened("copy", source)
    assert Path(workspace.path, "git~1").exists()
    assert (await workspace.changes([])).warnings == ()
    await workspace.close(keep=False)
    assert [text for text in await opening(source, state_dir) if "'git~1'" in text]


async def test_names_that_are_no_utf8_are_copied(source: Path, opened: Opener) -> None:
    name = os.fsdecode(b"caf\xe9")
    write(source, {name: "1\n"})
    workspace = await opened("copy", source)
    write(Path(workspace.path), {name: "2\n"})
    changes = await workspace.changes([])
    assert [file.path for file in changes.files] == ["caf\\xe9"]
    copy = await workspace.clean_copy("patched", [])
    assert files_of(copy.path)[name] == b"2\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_what_cannot_be_read_is_passed_over_and_said(source: Path, state_dir: Path) -> None:
    shell(source, "touch secret; chmod 000 secret; mkdir closed; chmod 000 closed")
    warnings = await opening(source, state_dir)
    assert [text for text in warnings if "'secret'" in text and "'closed'" in text]


async def test_a_read_only_directory_can_be_worked_in(source: Path, opened: Opener) -> None:
    shell(source, "chmod 555 src")
    workspace = await opened("copy", source)
    write(Path(workspace.path), {"src/new.py": ""})
    assert [file.path for file in (await workspace.changes([])).files] == ["src/new.py"]


async def test_a_commit_after_the_copy_does_not_move_the_start(tmp_path: Path, opened: Opener) -> None:
    source = make_repository(tmp_path / "p", {"a.txt": "1\n"})
    workspace = await opened("copy", source)
    write(source, {"a.txt": "user\n"})
    commit(source, "the user goes on")
    write(Path(workspace.path), {"a.txt": "agent\n"})
    changes = await workspace.changes([])
    assert b"-1\n+agent" in changes.patch
