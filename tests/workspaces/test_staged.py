"""What is about to be committed, whatever lies in the working files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.git import Git, find_git
from pi_batch.workspaces.staged import Staged, index_variables, read_staged
from tests.workspaces.repositories import commit, files_of, git, make_repository, write

NAMES = {"a b.py": "1\n", "-dash.py": "1\n", "dir/ü.py": "1\n"}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r", NAMES)


async def staged(top: Path, **environ: str) -> Staged:
    return await read_staged(Git(find_git()), top, environ)


async def test_nothing_staged_is_empty_whatever_the_files_say(top: Path) -> None:
    write(top, {"a b.py": "2\n", "new.py": "2\n"})
    assert (await staged(top)).is_empty


async def test_the_files_are_those_of_the_index(top: Path, tmp_path: Path) -> None:
    write(top, {"a b.py": "staged\n", "new.py": "staged\n"})
    git(top, "add", "-A")
    write(top, {"a b.py": "not staged\n", "other.py": "not staged\n"})
    before = (top / ".git" / "index").read_bytes()
    found = await staged(top)
    out = tmp_path / "out"
    out.mkdir()
    await found.write_to(out)
    assert files_of(out) == {
        **{name.encode().decode(): b"1\n" for name in ("-dash.py", "dir/ü.py")},
        "a b.py": b"staged\n",
        "new.py": b"staged\n",
    }
    diff = (await found.diff(10_000)).text
    assert b"+staged" in diff
    assert b"not staged" not in diff
    assert (top / ".git" / "index").read_bytes() == before


async def test_a_partial_commits_own_index_counts(top: Path) -> None:
    write(top, {"a b.py": "in\n"})
    git(top, "add", "-A")
    (top / ".git" / "index").rename(top / ".git" / "next-index-1.lock")
    git(top, "read-tree", "HEAD")
    assert (await staged(top)).is_empty
    assert b"+in" in (await (await staged(top, GIT_INDEX_FILE=".git/next-index-1.lock")).diff(10_000)).text


async def test_the_first_commit_is_compared_with_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    assert (await staged(tmp_path)).is_empty
    write(tmp_path, {"a.py": "first\n"})
    git(tmp_path, "add", "-A")
    assert b"+first" in (await (await staged(tmp_path)).diff(10_000)).text


async def test_a_range_of_pre_commit_counts_from_where_it_branched_off(top: Path) -> None:
    start = git(top, "rev-parse", "HEAD")
    git(top, "checkout", "-qb", "side")
    write(top, {"side.py": "side\n"})
    commit(top, "side")
    git(top, "checkout", "-q", "main")
    write(top, {"main.py": "main\n"})
    commit(top, "main")
    found = await staged(top, PRE_COMMIT_FROM_REF="main", PRE_COMMIT_TO_REF="side")
    assert found.old == git(top, "rev-parse", f"{start}^{{tree}}")
    assert b"main.py" not in (await found.diff(10_000)).text
    with pytest.raises(UsageError, match="nowhere: no such commit"):
        await staged(top, PRE_COMMIT_FROM_REF="main", PRE_COMMIT_TO_REF="nowhere")


async def test_of_too_much_whole_files_are_kept_and_the_others_named(top: Path) -> None:
    write(
        top,
        {"a big.txt": "line\n" * 1000, "b small.txt": "diff --git not a file\n", "c big.txt": "x\n" * 900},
    )
    git(top, "add", "-A")
    diff = await (await staged(top)).diff(1500)
    assert (diff.files, diff.left_out) == (3, 2)
    assert b"+diff --git not a file" in diff.text
    assert diff.text.startswith(b"diff --git a/a big.txt b/a big.txt\n(")
    assert b" bytes of diff are left out: read the file)\ndiff --git a/b small.txt" in diff.text
    assert len(diff.text) < 1500


@pytest.mark.parametrize("limit_bytes", [1, 500, 5_000, 20_000])
async def test_many_files_stay_within_the_limit_and_are_counted(top: Path, limit_bytes: int) -> None:
    write(top, {f"{number:03}-{'n' * 60}.txt": "x\n" * number for number in range(200)})
    git(top, "add", "-A")
    diff = await (await staged(top)).diff(limit_bytes)
    assert diff.files == 200
    whole = diff.text.count(b"index 0")
    named = diff.text.count(b" bytes of diff are left out")
    assert whole == 200 - diff.left_out
    more = re.search(rb"and (\d+) more files", diff.text)
    assert whole + named + (int(more[1]) if more else 0) == 200
    assert named
    assert len(diff.text) < limit_bytes + 400


async def test_binary_files_are_only_named(top: Path) -> None:
    write(top, {"logo.bin": bytes(range(256)) * 9})
    git(top, "add", "-A")
    diff = (await (await staged(top)).diff(10_000)).text
    assert b"Binary files /dev/null and b/logo.bin differ" in diff


async def test_outside_of_a_repository_nothing_is_staged(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no git repository"):
        await staged(tmp_path)


def test_what_git_tells_its_hooks_goes_no_further() -> None:
    assert index_variables({"GIT_DIR": "x", "GIT_INDEX_FILE": "y", "HOME": "h"}) == {"HOME": "h"}
