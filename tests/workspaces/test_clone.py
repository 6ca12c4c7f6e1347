"""isolation: clone, on the repositories that people really have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces import open_workspace
from tests.workspaces.conftest import Opener
from tests.workspaces.repositories import (
    commit,
    files_of,
    git,
    git_bytes,
    make_repository,
    shell,
    state_of,
    write,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "proj", {"a.txt": "base\n", "src/app.py": "x = 1\n"})


async def warnings_of(source: Path, state_dir: Path, *, include_uncommitted: bool = True) -> tuple[str, ...]:
    workspace = open_workspace("clone", source, state_dir, include_uncommitted)
    warnings = await workspace.open()
    await workspace.close(keep=False)
    return warnings


# --- what the agent finds ---


async def test_without_uncommitted_work_the_start_is_the_users_head(source: Path, opened: Opener) -> None:
    workspace = await opened("clone", source)
    assert workspace.start_commit == workspace.base_commit == git(source, "rev-parse", "HEAD")
    assert git(workspace.path, "log", "--format=%s") == "first"


async def test_uncommitted_work_is_one_commit_on_top_and_the_status_is_clean(
    source: Path, opened: Opener
) -> None:
    shell(
        source,
        "echo edit >> a.txt; echo new > new.txt; echo st > st.txt; git add st.txt; git rm -q src/app.py",
    )
    workspace = await opened("clone", source)
    assert files_of(workspace.path) == {"a.txt": b"base\nedit\n", "new.txt": b"new\n", "st.txt": b"st\n"}
    assert git(workspace.path, "status", "--porcelain") == ""
    assert git(workspace.path, "rev-parse", "HEAD") == workspace.start_commit
    assert git(workspace.path, "rev-parse", "HEAD^") == workspace.base_commit
    assert git(workspace.path, "symbolic-ref", "HEAD") == "refs/heads/main"


async def test_the_same_files_give_the_same_start_commit(source: Path, tmp_path: Path) -> None:
    write(source, {"new.txt": "n\n"})
    commits = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        workspace = open_workspace("clone", source, tmp_path / name)
        await workspace.open()
        commits.append(workspace.start_commit)
        await workspace.close(keep=False)
    assert commits[0] == commits[1]


async def test_uncommitted_work_stays_out_when_it_is_not_asked_for(source: Path, opened: Opener) -> None:
    shell(source, "echo edit >> a.txt; echo new > new.txt; rm src/app.py")
    workspace = await opened("clone", source, include_uncommitted=False)
    assert files_of(workspace.path) == {"a.txt": b"base\n", "src/app.py": b"x = 1\n"}
    assert workspace.start_commit == git(source, "rev-parse", "HEAD")


async def test_ignored_files_stay_out_and_tracked_ones_come_though_ignored(
    source: Path, opened: Opener
) -> None:
    write(source, {"keep.log": "tracked\n"})
    commit(source, "a log")
    write(
        source,
        {".gitignore": "*.log\nbuild/\n", "junk.log": "", "build/x": "", ".git/info/exclude": "mine\n"},
    )
    write(source, {"mine": "private\n", "pkg/__pycache__/a.pyc": "", "venv/bin/python": "", ".DS_Store": ""})
    workspace = await opened("clone", source)
    assert sorted(files_of(workspace.path)) == [".gitignore", "a.txt", "keep.log", "src/app.py"]


async def test_what_the_users_own_config_ignores_stays_out_too(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    write(tmp_path / "home", {".gitconfig": "[core]\n\texcludesFile = ~/ignored\n", "ignored": ".env\n"})
    write(source, {".env": "TOKEN=secret\n"})
    workspace = await opened("clone", source, user_home=tmp_path / "home")
    assert not Path(workspace.path, ".env").exists()


async def test_history_branches_and_tags_come_along_and_no_remote(source: Path, opened: Opener) -> None:
    git(source, "tag", "-a", "v1.0", "-m", "one")
    git(source, "branch", "other")
    git(source, "remote", "add", "origin", "https://example.invalid/p.git")
    git(source, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(source, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    commit(source, "second")
    workspace = await opened("clone", source)
    assert git(workspace.path, "describe", "--tags") == git(source, "describe", "--tags")
    assert git(workspace.path, "log", "--format=%s", "origin/HEAD..main") == "second"
    assert git(workspace.path, "branch", "--format=%(refname)") == "refs/heads/main\nrefs/heads/other"
    assert git(workspace.path, "remote") == ""
    assert git(workspace.path, "fsck", "--strict") == ""


async def test_the_agent_can_commit_whatever_the_users_config_demands(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    config = "[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[user]\n\tuseConfigOnly = true\n"
    write(tmp_path / "home", {".gitconfig": config})
    workspace = await opened("clone", source)
    shell(
        workspace.path,
        "echo x >> a.txt; git commit -qam work; git tag -a v2 -m v2; git checkout -qb b; git stash list",
        HOME=str(tmp_path / "home"),
        GIT_CONFIG_GLOBAL=str(tmp_path / "home" / ".gitconfig"),
    )
    assert git(workspace.path, "log", "-1", "--format=%an %s") == "pi-batch work"


async def test_no_file_of_the_clone_is_shared_with_the_users_repository(source: Path, opened: Opener) -> None:
    git(source, "gc", "-q")
    commit(source, "loose")
    workspace = await opened("clone", source)
    mine = {path.stat().st_ino for path in source.rglob("*") if path.is_file()}
    theirs = [path for path in Path(workspace.path).rglob("*") if path.is_file()]
    assert not [path for path in theirs if path.stat().st_ino in mine]
    assert not Path(workspace.path, ".git/objects/info/alternates").exists()


async def test_the_parents_of_the_agents_directory_hold_nothing_else(
    source: Path, state_dir: Path, opened: Opener
) -> None:
    workspace = await opened("clone", source)
    assert list(Path(workspace.path).parent.iterdir()) == [Path(workspace.path)]
    assert sorted(path.name for path in state_dir.iterdir()) == ["shadow.git", "w", "workspace.json"]


async def test_a_subdirectory_is_a_subdirectory_of_the_clone(source: Path, opened: Opener) -> None:
    workspace = await opened("clone", source / "src")
    assert files_of(workspace.path) == {"app.py": b"x = 1\n"}
    assert Path(workspace.path).name == "src"
    write(Path(workspace.path), {"app.py": "x = 2\n", "../a.txt": "outside\n", "tests/t.py": ""})
    changes = await workspace.changes(["tests/**", "a.txt"])
    assert [file.path for file in changes.files] == ["../a.txt", "app.py", "tests/t.py"]
    assert changes.protected_touched == ("tests/t.py",)
    assert b"diff --git a/src/app.py b/src/app.py" in changes.patch
    copy = await workspace.clean_copy("patched", ["tests/**"])
    assert files_of(copy.path) == {"app.py": b"x = 2\n"}
    assert Path(copy.path, "../a.txt").read_text() == "outside\n"
    assert await workspace.start_file("app.py") == b"x = 1\n"
    assert await workspace.start_file("../a.txt") == b"base\n"


async def test_an_empty_subdirectory_is_there_for_the_agent(source: Path, opened: Opener) -> None:
    (source / "empty").mkdir()
    workspace = await opened("clone", source / "empty")
    assert Path(workspace.path).is_dir()


async def test_an_ignored_subdirectory_is_an_error_and_not_an_empty_workspace(
    source: Path, state_dir: Path
) -> None:
    write(source, {".gitignore": "out/\n", "out/x": ""})
    with pytest.raises(WorkspaceError, match="isolation: copy"):
        await open_workspace("clone", source / "out", state_dir).open()


# --- odd repositories ---


async def test_a_repository_without_a_commit_works(tmp_path: Path, opened: Opener) -> None:
    source = tmp_path / "p"
    source.mkdir()
    shell(source, "git init -q -b trunk; echo u > user.txt")
    workspace = await opened("clone", source)
    assert workspace.base_commit is None
    assert (
        git(workspace.path, "log", "--format=%an %s") == "pi-batch pi-batch: the files as the task found them"
    )
    assert git(workspace.path, "symbolic-ref", "HEAD") == "refs/heads/trunk"
    write(Path(workspace.path), {"made.txt": "made\n"})
    assert [file.path for file in (await workspace.changes([])).files] == ["made.txt"]
    assert not (source / "made.txt").exists()


async def test_a_repository_without_anything_works(tmp_path: Path, opened: Opener) -> None:
    source = tmp_path / "p"
    source.mkdir()
    git(source, "init", "-q")
    workspace = await opened("clone", source)
    assert git(workspace.path, "status", "--porcelain") == ""
    write(Path(workspace.path), {"made.txt": "made\n"})
    assert b"made.txt" in (await workspace.changes([])).patch


async def test_without_a_commit_and_without_uncommitted_files_the_start_is_empty(
    tmp_path: Path, state_dir: Path
) -> None:
    source = tmp_path / "p"
    source.mkdir()
    shell(source, "git init -q; echo u > user.txt")
    warnings = await warnings_of(source, state_dir, include_uncommitted=False)
    assert [text for text in warnings if "no commit yet" in text]


async def test_a_shallow_detached_checkout_works_and_stays_one(tmp_path: Path, opened: Opener) -> None:
    full = make_repository(tmp_path / "full", {"f": "1\n"})
    for number in (2, 3):
        write(full, {"f": f"{number}\n"})
        commit(full, f"c{number}")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{full}", "p")
    source = tmp_path / "p"
    git(source, "checkout", "-q", "--detach")
    workspace = await opened("clone", source)
    write(Path(workspace.path), {"made.txt": "made\n"})
    changes = await workspace.changes([])
    assert b"made.txt" in changes.patch
    assert git(workspace.path, "log", "--format=%s") == "c3"
    assert shell(workspace.path, "git symbolic-ref -q HEAD || echo detached") == "detached\n"
    assert git(workspace.path, "rev-parse", "--is-shallow-repository") == "true"
    assert git(workspace.path, "fsck") == ""
    assert shell(source, "git symbolic-ref -q HEAD || echo detached") == "detached\n"


async def test_a_sha256_repository_works(tmp_path: Path, opened: Opener) -> None:
    source = make_repository(tmp_path / "p", {"a": "1\n", "d/b": "2\n"}, "--object-format=sha256")
    write(source, {"new": "n\n"})
    workspace = await opened("clone", source)
    assert len(workspace.start_commit or "") == 64
    assert git(workspace.path, "status", "--porcelain") == ""
    write(Path(workspace.path), {"d/b": "3\n"})
    changes = await workspace.changes([])
    git_bytes(workspace.path, "apply", "-R", "--binary", stdin=changes.patch)
    assert (await workspace.changes([])).patch == b""


async def test_a_linked_work_tree_becomes_a_repository_of_its_own(source: Path, opened: Opener) -> None:
    git(source, "worktree", "add", "-q", "-b", "feature", "../linked")
    linked = source.parent / "linked"
    write(linked, {"new.txt": ""})
    before = state_of(source)
    workspace = await opened("clone", linked)
    assert git(workspace.path, "symbolic-ref", "HEAD") == "refs/heads/feature"
    shell(workspace.path, "git commit -q --allow-empty -m mine; git gc -q")
    assert state_of(source) == before
    assert git(linked, "log", "-1", "--format=%s") == "first"


async def test_a_repository_that_borrows_objects_is_cloned_whole(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    git(tmp_path, "clone", "-q", "-s", str(source), "borrower")
    git(tmp_path / "borrower", "config", "user.name", "t")
    git(tmp_path / "borrower", "config", "user.email", "t@example.invalid")
    write(tmp_path / "borrower", {"mine.txt": ""})
    commit(tmp_path / "borrower", "mine")
    workspace = await opened("clone", tmp_path / "borrower")
    shell(tmp_path, "rm -rf proj borrower")
    assert git(workspace.path, "fsck") == ""
    assert git(workspace.path, "log", "--format=%s") == "mine\nfirst"


async def test_a_submodules_files_are_part_of_the_start(source: Path, tmp_path: Path, opened: Opener) -> None:
    inner = make_repository(tmp_path / "inner", {"lib.py": "v = 1\n"})
    git(source, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "libs/inner")
    commit(source, "with a submodule")
    write(source, {"libs/inner/lib.py": "v = 2\n", "libs/inner/new.py": ""})
    before = state_of(source)
    workspace = await opened("clone", source)
    assert Path(workspace.path, "libs/inner/lib.py").read_text() == "v = 2\n"
    assert Path(workspace.path, "libs/inner/new.py").exists()
    assert git(workspace.path, "status", "--porcelain") == ""
    write(Path(workspace.path), {"libs/inner/lib.py": "v = 3\n"})
    assert [file.path for file in (await workspace.changes([])).files] == ["libs/inner/lib.py"]
    assert state_of(source) == before


async def test_a_submodule_that_is_not_checked_out_is_no_obstacle(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    inner = make_repository(tmp_path / "inner", {"lib.py": "v = 1\n"})
    git(source, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "libs/inner")
    commit(source, "with a submodule")
    git(tmp_path, "clone", "-q", str(source), "fresh")
    workspace = await opened("clone", tmp_path / "fresh")
    assert git(workspace.path, "status", "--porcelain") == ""
    assert (await workspace.changes([])).patch == b""


async def test_a_start_from_head_says_that_submodules_are_empty(
    source: Path, tmp_path: Path, state_dir: Path
) -> None:
    inner = make_repository(tmp_path / "inner", {"lib.py": "v = 1\n"})
    git(source, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "libs/inner")
    commit(source, "with a submodule")
    warnings = await warnings_of(source, state_dir, include_uncommitted=False)
    assert [text for text in warnings if "libs/inner" in text]


async def test_a_checkout_of_a_submodule_is_a_repository(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    inner = make_repository(tmp_path / "inner", {"lib.py": "v = 1\n"})
    git(source, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "libs/inner")
    commit(source, "with a submodule")
    workspace = await opened("clone", source / "libs" / "inner")
    assert files_of(workspace.path) == {"lib.py": b"v = 1\n"}
    assert git(workspace.path, "log", "--format=%s") == "first"


async def test_repositories_that_no_commit_mentions_are_left_out_and_said(
    source: Path, state_dir: Path
) -> None:
    make_repository(source / "vendor" / "other", {"x": ""})
    git(source, "worktree", "add", "-q", "-b", "wt", "trees/wt")
    warnings = await warnings_of(source, state_dir)
    assert [text for text in warnings if "'trees/wt/'" in text and "'vendor/other/'" in text]


async def test_a_sparse_checkout_is_taken_as_far_as_it_is_on_disk(
    source: Path, state_dir: Path, opened: Opener
) -> None:
    git(source, "status")
    git(source, "sparse-checkout", "set", "docs")
    workspace = await opened("clone", source)
    assert files_of(workspace.path) == {"a.txt": b"base\n"}
    assert git(workspace.path, "status", "--porcelain") == ""
    assert (await workspace.changes([])).patch == b""
    await workspace.close(keep=False)
    assert [
        text for text in await warnings_of(source, state_dir) if "sparse" in text and "src/app.py" in text
    ]


async def test_a_partial_clone_works_and_fetches_nothing(tmp_path: Path, opened: Opener) -> None:
    full = make_repository(tmp_path / "full", {"f": "1\n", "d/g": "g\n"})
    git(full, "config", "uploadpack.allowFilter", "true")
    write(full, {"f": "2\n"})
    commit(full, "second")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{full}", "p")
    shell(tmp_path, "mv full gone")
    workspace = await opened("clone", tmp_path / "p")
    write(Path(workspace.path), {"f": "3\n"})
    assert b"+3" in (await workspace.changes([])).patch
    assert git(workspace.path, "log", "--format=%s") == "second\nfirst"


async def test_an_index_in_two_files_is_read(source: Path, opened: Opener) -> None:
    git(source, "update-index", "--split-index")
    workspace = await opened("clone", source)
    assert sorted(files_of(workspace.path)) == ["a.txt", "src/app.py"]


async def test_a_sparse_index_is_read(source: Path, opened: Opener) -> None:
    git(source, "status")
    git(source, "sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    workspace = await opened("clone", source)
    assert sorted(files_of(workspace.path)) == ["a.txt"]


async def test_a_work_tree_of_a_bare_repository_is_a_checkout(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", "../tree", "main")
    workspace = await opened("clone", tmp_path / "tree")
    assert git(workspace.path, "status", "--porcelain") == ""
    assert sorted(files_of(workspace.path)) == ["a.txt", "src/app.py"]


async def test_files_that_are_only_intended_to_be_added_come_along(source: Path, opened: Opener) -> None:
    shell(source, ": > empty; echo x > full; git add -N empty full")
    workspace = await opened("clone", source)
    assert files_of(workspace.path)["empty"] == b""
    assert files_of(workspace.path)["full"] == b"x\n"


async def test_a_submodule_whose_repository_is_gone_is_left_out(
    source: Path, tmp_path: Path, state_dir: Path
) -> None:
    inner = make_repository(tmp_path / "inner", {"lib.py": "v = 1\n"})
    git(source, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "libs/inner")
    commit(source, "with a submodule")
    shell(source, "rm -rf .git/modules")
    warnings = await warnings_of(source, state_dir)
    assert [text for text in warnings if "'libs/inner/'" in text]


async def test_a_link_in_the_place_of_a_submodule_is_a_link(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    inner = make_repository(tmp_path / "inner", {"lib.py": "v = 1\n"})
    git(source, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "libs/inner")
    commit(source, "with a submodule")
    shell(source, "rm -rf libs/inner; ln -s ../../inner libs/inner")
    workspace = await opened("clone", source)
    assert files_of(workspace.path)["libs/inner"] == b"-> ../../inner"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
async def test_a_checkout_that_belongs_to_somebody_else_is_read(source: Path, opened: Opener) -> None:
    shell(source, "chown -R 65534:65534 .")
    workspace = await opened("clone", source)
    assert sorted(files_of(workspace.path)) == ["a.txt", "src/app.py"]


async def test_a_link_that_git_refuses_by_name_is_left_out_and_said(source: Path, state_dir: Path) -> None:
    shell(source, "ln -s a.txt .gitmodules")
    warnings = await warnings_of(source, state_dir)
    assert [text for text in warnings if "'.gitmodules'" in text]


async def test_files_marked_as_unchanged_are_taken_as_they_are(source: Path, opened: Opener) -> None:
    git(source, "update-index", "--assume-unchanged", "a.txt")
    write(source, {"a.txt": "changed\n"})
    workspace = await opened("clone", source)
    assert Path(workspace.path, "a.txt").read_text() == "changed\n"


async def test_a_merge_in_progress_is_taken_as_it_is_on_disk(source: Path, opened: Opener) -> None:
    shell(
        source,
        "git checkout -qb side; echo side > a.txt; git commit -qam side; git checkout -q main;"
        "echo main > a.txt; git commit -qam main; git merge side || true",
    )
    workspace = await opened("clone", source)
    assert b"<<<<<<<" in files_of(workspace.path)["a.txt"]
    assert git(workspace.path, "status", "--porcelain") == ""


async def test_windows_line_endings_and_encodings_come_out_byte_for_byte(
    source: Path, opened: Opener
) -> None:
    attributes = "*.txt text eol=crlf\n*.utf16 text working-tree-encoding=UTF-16\n*.id ident\n* text=auto\n"
    files: dict[str, str | bytes] = {
        ".gitattributes": attributes,
        "crlf.txt": b"a\r\nb\r\n",
        "mixed.md": b"a\r\nb\n",
        "x.utf16": "text\n".encode("utf-16"),
        "x.id": b"$Id$\n",
    }
    write(source, files)
    commit(source, "attributes")
    git(source, "config", "core.autocrlf", "true")
    write(source, files)
    workspace = await opened("clone", source)
    assert {name: files_of(workspace.path)[name] for name in files} == {n: files_of(source)[n] for n in files}
    assert git(workspace.path, "status", "--porcelain") == ""
    assert git(workspace.path, "diff", "HEAD") == ""
    shell(workspace.path, 'touch *; git add -A; test -z "$(git status --porcelain)"')
    copy = await workspace.clean_copy("patched", [])
    assert files_of(copy.path) == files_of(workspace.path)


async def test_a_disk_without_execute_bits_does_not_change_modes(source: Path, opened: Opener) -> None:
    git(source, "config", "core.fileMode", "false")
    (source / "a.txt").chmod(0o755)
    workspace = await opened("clone", source)
    assert workspace.start_commit == workspace.base_commit


async def test_names_of_any_kind_come_through(tmp_path: Path, opened: Opener) -> None:
    names = [
        "-dash",
        " space ",
        "tab\there",
        "new\nline",
        'quo"te',
        "back\\slash",
        "café ☃",
        ":colon",
        "*",
        "dir /x",
    ]
    source = make_repository(tmp_path / "-odd dir\n☃", {name: f"{name}\n" for name in names})
    Path(os.fsdecode(os.fsencode(source) + b"/bad\xff")).write_text("bytes\n")
    workspace = await opened("clone", source)
    assert files_of(workspace.path) == files_of(source)
    assert git(workspace.path, "status", "--porcelain") == ""


async def test_links_come_through_and_those_into_the_checkout_stay_inside(
    source: Path, state_dir: Path, opened: Opener
) -> None:
    shell(source, 'ln -s a.txt rel; ln -s /etc/hostname out; ln -s gone dangling; ln -s "$PWD/src" src/loop')
    workspace = await opened("clone", source)
    found = files_of(workspace.path)
    assert (found["rel"], found["out"], found["dangling"]) == (b"-> a.txt", b"-> /etc/hostname", b"-> gone")
    assert found["src/loop"] == b"-> ."
    await workspace.close(keep=False)
    assert [text for text in await warnings_of(source, state_dir) if "src/loop" in text]


async def test_special_files_are_passed_over(source: Path, opened: Opener) -> None:
    os.mkfifo(source / "pipe")
    workspace = await opened("clone", source)
    assert "pipe" not in files_of(workspace.path)


# --- what is no repository to clone ---


async def test_a_directory_outside_any_repository_is_told_what_to_do(tmp_path: Path, state_dir: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"isolation: copy.*git init"):
        await open_workspace("clone", tmp_path, state_dir).open()
    assert list(state_dir.iterdir()) == []


async def test_a_bare_repository_is_named_as_such(source: Path, tmp_path: Path, state_dir: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git")
    with pytest.raises(WorkspaceError, match="bare repository"):
        await open_workspace("clone", tmp_path / "bare.git", state_dir).open()


async def test_the_inside_of_a_git_directory_is_no_workspace(source: Path, state_dir: Path) -> None:
    with pytest.raises(WorkspaceError, match="work tree"):
        await open_workspace("clone", source / ".git" / "objects", state_dir).open()


async def test_a_damaged_repository_is_an_error_in_gits_own_words(source: Path, state_dir: Path) -> None:
    (source / ".git" / "index").write_bytes(b"not an index, though long enough to be looked at")
    with pytest.raises(WorkspaceError, match="index"):
        await open_workspace("clone", source, state_dir).open()
    assert list(state_dir.iterdir()) == []


async def test_a_git_file_that_names_nothing_is_an_error(tmp_path: Path, state_dir: Path) -> None:
    write(tmp_path / "p", {".git": "gitdir: /nonexistent/repo\n", "a": ""})
    with pytest.raises(WorkspaceError, match="names no repository"):
        await open_workspace("clone", tmp_path / "p", state_dir).open()


# --- locks, hooks, filters and config of the user's repository ---


async def test_a_foreign_lock_is_no_obstacle_and_stays(source: Path, opened: Opener) -> None:
    (source / ".git" / "index.lock").touch()
    (source / ".git" / "HEAD.lock").touch()
    workspace = await opened("clone", source)
    await workspace.changes([])
    locks = sorted(path.name for path in (source / ".git").rglob("*.lock"))
    assert locks == ["HEAD.lock", "index.lock"]


async def test_required_filters_do_not_run_and_pointers_stay_with_a_warning(
    source: Path, state_dir: Path, opened: Opener
) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"
    write(source, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "x.bin": pointer})
    commit(source, "lfs")
    for key in ("clean", "smudge", "process"):
        git(source, "config", f"filter.lfs.{key}", f"no-such-lfs {key} %f")
    git(source, "config", "filter.lfs.required", "true")
    workspace = await opened("clone", source)
    assert Path(workspace.path, "x.bin").read_text() == pointer
    write(Path(workspace.path), {"made.txt": "made\n"})
    assert b"x.bin" not in (await workspace.changes([])).patch
    await workspace.close(keep=False)
    assert [text for text in await warnings_of(source, state_dir) if "x.bin" in text and "LFS" in text]
    from_head = await warnings_of(source, state_dir, include_uncommitted=False)
    assert [text for text in from_head if "LFS" in text]


HOSTILE_CONFIG = """
d=$(git rev-parse --git-dir)
printf '#!/bin/sh\\necho "$0" >> "%s"\\ncat\\n' "$LEAK" > evil.sh; chmod +x evil.sh
for hook in post-checkout pre-commit post-index-change reference-transaction post-commit; do
  cp evil.sh "$d/hooks/$hook" 2>/dev/null || { mkdir -p "$d/hooks"; cp evil.sh "$d/hooks/$hook"; }
done
echo '* filter=evil diff=evil text=auto' > .gitattributes
git config core.hooksPath "$d/hooks"
git config core.fsmonitor "$PWD/evil.sh"
git config core.sshCommand "$PWD/evil.sh"
git config core.alternateRefsCommand "$PWD/evil.sh"
git config core.pager "$PWD/evil.sh"
git config core.editor "$PWD/evil.sh"
git config diff.external "$PWD/evil.sh"
git config diff.evil.textconv "$PWD/evil.sh"
git config diff.evil.command "$PWD/evil.sh"
git config filter.evil.clean "$PWD/evil.sh"
git config filter.evil.smudge "$PWD/evil.sh"
git config filter.evil.process "$PWD/evil.sh"
git config filter.evil.required true
git config uploadpack.packObjectsHook "$PWD/evil.sh"
git config credential.helper "$PWD/evil.sh"
git config gpg.program "$PWD/evil.sh"
git config commit.gpgSign true
git config log.showSignature true
git config alias.ls-files "!$PWD/evil.sh"
git config trace2.eventTarget "$PWD/trace.out"
"""


async def test_no_setting_of_the_users_repository_starts_a_program(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    leak = tmp_path / "leak"
    shell(source, HOSTILE_CONFIG, LEAK=str(leak))
    leak.unlink(missing_ok=True)
    before = state_of(source)
    workspace = await opened("clone", source)
    write(Path(workspace.path), {"made.txt": "made\n", "src/app.py": "changed\n"})
    await workspace.changes(["tests/**"])
    await workspace.clean_copy("patched", [])
    assert not leak.exists()
    assert state_of(source) == before
    shell(source, "git status || true")
    assert leak.exists(), "the trap itself is broken"


async def test_a_partial_clones_remote_cannot_name_a_program_to_run(
    source: Path, tmp_path: Path, state_dir: Path
) -> None:
    leak = tmp_path / "leak"
    shell(
        source,
        "git config remote.evil.promisor true; git config remote.evil.url \"ext::sh -c 'touch $LEAK'\";"
        'git config remote.evil.uploadpack "touch $LEAK;"; git config protocol.ext.allow always;'
        "git config core.repositoryFormatVersion 1; git config extensions.partialClone evil;"
        "rm -f .git/objects/$(git rev-parse HEAD:a.txt | sed 's,..,&/,')",
        LEAK=str(leak),
    )
    with pytest.raises(WorkspaceError, match="git"):
        await open_workspace("clone", source, state_dir, include_uncommitted=False).open()
    assert not leak.exists()


async def test_core_worktree_cannot_point_the_snapshot_elsewhere(
    source: Path, tmp_path: Path, opened: Opener
) -> None:
    write(tmp_path / "private", {"secret.txt": "s\n"})
    git(source, "config", "core.worktree", str(tmp_path / "private"))
    git(source, "config", "core.bare", "true")
    workspace = await opened("clone", source)
    assert sorted(files_of(workspace.path)) == ["a.txt", "src/app.py"]


async def test_variables_of_an_outer_repository_do_not_reach_our_calls(
    source: Path, tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = make_repository(tmp_path / "outer", {"o.txt": "o\n"})
    before = state_of(outer)
    monkeypatch.setenv("GIT_DIR", str(outer / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(outer / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(outer))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(outer / ".git" / "objects"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    workspace = await opened("clone", source)
    write(Path(workspace.path), {"new.txt": "n\n"})
    assert [file.path for file in (await workspace.changes([])).files] == ["new.txt"]
    assert sorted(files_of(workspace.path)) == ["a.txt", "new.txt", "src/app.py"]
    assert state_of(outer) == before


async def test_a_temporary_directory_inside_the_checkout_is_not_part_of_it(source: Path) -> None:
    state = source / "tmp dir" / "[run]"
    state.mkdir(parents=True)
    workspace = open_workspace("clone", source, state)
    warnings = await workspace.open()
    assert sorted(files_of(workspace.path)) == ["a.txt", "src/app.py"]
    assert [text for text in warnings if "lies in the repository" in text]
    await workspace.close(keep=False)


async def test_when_the_disk_refuses_nothing_is_left(source: Path, state_dir: Path) -> None:
    (state_dir / "w").write_text("in the way")
    with pytest.raises(WorkspaceError):
        await open_workspace("clone", source, state_dir).open()
    assert list(state_dir.iterdir()) == []
