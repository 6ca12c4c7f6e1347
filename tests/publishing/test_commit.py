"""Commits, branches and working files: what is not ours stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.git import Git, Place, find_git
from pi_batch.publishing.commit import (
    TASK_TRAILER,
    Author,
    author_of,
    branch_name,
    is_ours,
    make_commit,
    resolve,
    to_branch,
    to_head,
    to_tree,
)
from pi_batch.publishing.merge import NotPublished, merge
from tests.publishing.runs import FILES, patch_of
from tests.workspaces.repositories import git, make_repository

OURS = f"Mend it\n\n{TASK_TRAILER}: mend\n"
CHANGED = FILES["a.txt"].replace("line 3\n", "three\n") if isinstance(FILES["a.txt"], str) else ""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r", FILES)


class Bench:
    """A repository with the commit that a patch makes."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.git, self.place = Git(find_git()), Place(top / ".git", top)
        self.head = git(top, "rev-parse", "HEAD")
        self.patch = patch_of(top, {"a.txt": CHANGED, "new.txt": "new\n"})

    async def commit(self, message: str = OURS) -> str:
        merged = await merge(self.git, self.place, self.head, self.patch)
        author = Author("Ann B", "ann@example.invalid")
        return await make_commit(
            self.git, self.place, merged, message=message, author=author, time_s=1_700_000_000
        )


async def test_a_commit_is_what_was_asked_for(top: Path) -> None:
    bench = Bench(top)
    commit = await bench.commit("Grüße\n\nbody\n")
    assert git(top, "show", "-s", "--format=%an <%ae> %cn %ct|%P|%s", commit) == (
        f"Ann B <ann@example.invalid> Ann B 1700000000|{bench.head}|Grüße"
    )
    assert git(top, "fsck", "--strict") == "" or "dangling" in git(top, "fsck", "--strict")


async def test_head_moves_with_its_files_and_other_changes_stay(top: Path) -> None:
    bench = Bench(top)
    (top / "src/b.py").write_text("x = 2\n")
    await to_head(bench.git, bench.place, commit := await bench.commit(), bench.head)
    assert git(top, "rev-parse", "HEAD") == commit
    assert git(top, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert (top / "a.txt").read_text() == CHANGED
    assert git(top, "status", "--porcelain") == " M src/b.py"


@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
async def test_head_does_not_move_over_somebody_elses_changes(top: Path, name: str) -> None:
    bench = Bench(top)
    (top / name).write_text("mine\n")
    commit = await bench.commit()
    with pytest.raises(NotPublished, match="changes of their own"):
        await to_head(bench.git, bench.place, commit, bench.head)
    assert git(top, "rev-parse", "HEAD") == bench.head
    assert (top / name).read_text() == "mine\n"


async def test_no_hook_runs(top: Path, tmp_path: Path) -> None:
    for name in ("post-checkout", "post-commit", "reference-transaction", "post-index-change"):
        hook = top / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
        hook.chmod(0o755)
    bench = Bench(top)
    (tmp_path / "hooked").unlink(missing_ok=True)
    commit = await bench.commit()
    await to_branch(bench.git, bench.place, commit, "pi-batch/mend")
    await to_head(bench.git, bench.place, commit, bench.head)
    assert not (tmp_path / "hooked").exists()


async def test_a_branch_of_ours_is_replaced(top: Path) -> None:
    bench = Bench(top)
    await to_branch(bench.git, bench.place, await bench.commit("one\n\n" + OURS), "pi-batch/mend")
    bench.patch = patch_of(top, {"a.txt": "another change\n"})
    second = await bench.commit()
    assert await to_branch(bench.git, bench.place, second, "pi-batch/mend") == second
    assert git(top, "rev-parse", "pi-batch/mend") == second
    again = await bench.commit("other words\n\n" + OURS)
    assert await to_branch(bench.git, bench.place, again, "pi-batch/mend") == second
    assert git(top, "rev-parse", "pi-batch/mend") == second
    assert git(top, "rev-parse", "HEAD") == bench.head


async def test_a_branch_with_somebody_elses_commits_is_left_alone(top: Path) -> None:
    bench = Bench(top)
    git(top, "branch", "pi-batch/mend")
    with pytest.raises(NotPublished, match="left alone"):
        await to_branch(bench.git, bench.place, await bench.commit(), "pi-batch/mend")
    assert git(top, "rev-parse", "pi-batch/mend") == bench.head


async def test_the_branch_that_is_checked_out_is_left_alone(top: Path) -> None:
    bench = Bench(top)
    with pytest.raises(NotPublished, match="checked out"):
        await to_branch(bench.git, bench.place, await bench.commit(), "main")


async def test_working_files_get_the_patch_wholly_or_not_at_all(top: Path) -> None:
    bench = Bench(top)
    (top / "new.txt").write_text("mine\n")
    with pytest.raises(NotPublished, match="working files"):
        await to_tree(bench.git, bench.place, bench.patch, bench.head, None)
    assert (top / "a.txt").read_text() == FILES["a.txt"]
    (top / "new.txt").unlink()
    await to_tree(bench.git, bench.place, bench.patch, bench.head, None)
    assert (top / "a.txt").read_text() == CHANGED
    assert git(top, "diff", "--cached", "--stat") == ""


async def test_a_commit_is_ours_by_its_trailer(top: Path) -> None:
    bench = Bench(top)
    assert await is_ours(bench.git, bench.place, await bench.commit())
    assert not await is_ours(bench.git, bench.place, bench.head)
    assert not await is_ours(bench.git, bench.place, await bench.commit(f"no {TASK_TRAILER}: x\n"))


@pytest.mark.parametrize("revision", ["nowhere", "--help", "-x", "", "HEAD^{tree}"])
async def test_what_names_no_commit_is_none(top: Path, revision: str) -> None:
    bench = Bench(top)
    assert await resolve(bench.git, bench.place, revision) is None
    assert await resolve(bench.git, bench.place, "main") == bench.head


@pytest.mark.parametrize("text", ["Ann <a@b>", "  Ann B. C   <a@b> "])
def test_an_author_has_a_name_and_an_address(text: str) -> None:
    author = author_of(text)
    assert author is not None
    assert str(author) == " ".join(text.split())


@pytest.mark.parametrize("text", ["", "Ann", "<a@b>", "Ann <a b>", "Ann <a@b> x", "A\nB <a@b>", "A <<a@b>"])
def test_anything_else_is_no_author(text: str) -> None:
    assert author_of(text) is None


@given(st.text(min_size=1, max_size=60))
def test_any_key_is_a_branch_that_git_takes(key: str) -> None:
    name = branch_name("pi-batch/", key)
    assert name == branch_name("pi-batch/", key)
    part = name.removeprefix("pi-batch/")
    assert part
    assert not part.startswith((".", "-"))
    assert not part.endswith((".", ".lock"))
    assert ".." not in part
    assert all(char.isascii() and (char.isalnum() or char in "._-") for char in part)
