"""A user's repository, found and read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, find_git
from pi_batch.workspaces.checkout import find_top, read_checkout
from tests.workspaces.repositories import commit, git, make_repository, shell, write


@pytest.fixture
def runner(tmp_path: Path) -> Git:
    return Git(find_git())


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "p", {"d/a.txt": "1\n"})


def test_the_work_tree_is_found_upwards(top: Path) -> None:
    assert find_top(top) == find_top(top / "d") == top


def test_a_git_directory_that_is_none_is_passed_over_as_git_does(top: Path) -> None:
    (top / "d" / ".git").mkdir()
    assert find_top(top / "d") == top


def test_a_directory_in_no_repository_has_no_work_tree(tmp_path: Path) -> None:
    assert find_top(tmp_path) is None


def test_bare_repositories_and_the_inside_of_one_are_errors(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    with pytest.raises(WorkspaceError, match="bare"):
        find_top(tmp_path / "bare")
    with pytest.raises(WorkspaceError, match=r"inside a repository's \.git"):
        find_top(top / ".git" / "objects")


async def test_head_branch_refs_and_rules_are_read(runner: Git, top: Path) -> None:
    git(top, "tag", "v1")
    git(top, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(top, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    git(top, "update-ref", "refs/private/x", "HEAD")
    write(top, {".git/info/exclude": "mine\n"})
    checkout = await read_checkout(runner, top)
    head = git(top, "rev-parse", "HEAD")
    assert checkout.head is not None
    assert (checkout.head.oid, checkout.head.tree) == (head, git(top, "rev-parse", "HEAD^{tree}"))
    assert checkout.head.time_s == 1714564800
    assert checkout.branch == b"refs/heads/main"
    assert checkout.refs == dict.fromkeys(
        (b"refs/heads/main", b"refs/tags/v1", b"refs/remotes/origin/main"), head
    )
    assert checkout.symbolic == {b"refs/remotes/origin/HEAD": b"refs/remotes/origin/main"}
    assert (checkout.exclude, checkout.shallow, checkout.object_format) == (b"mine\n", b"", "sha1")


async def test_a_detached_head_has_no_branch(runner: Git, top: Path) -> None:
    git(top, "checkout", "-q", "--detach")
    checkout = await read_checkout(runner, top)
    assert checkout.branch is None
    assert checkout.head is not None
    assert checkout.head.oid == git(top, "rev-parse", "HEAD")


async def test_a_branch_without_a_commit_has_no_head(runner: Git, top: Path) -> None:
    git(top, "checkout", "-q", "--orphan", "fresh")
    checkout = await read_checkout(runner, top)
    assert (checkout.head, checkout.branch) == (None, b"refs/heads/fresh")


async def test_a_signed_commit_with_many_headers_is_read(runner: Git, top: Path) -> None:
    body = git(top, "cat-file", "commit", "HEAD").replace(
        "committer", "gpgsig -----BEGIN\n tree of lies\n committer x 1 +0000\n -----END\ncommitter", 1
    )
    oid = git(
        top, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=(body + "\n").encode()
    )
    git(top, "update-ref", "HEAD", oid)
    checkout = await read_checkout(runner, top)
    assert checkout.head is not None
    assert checkout.head.time_s == 1714564800


@pytest.mark.parametrize(
    ("value", "expected"), [("false", False), ("no", False), ("0", False), ("true", True)]
)
async def test_whether_the_disk_has_execute_bits_is_read(
    runner: Git, top: Path, value: str, expected: bool
) -> None:
    git(top, "config", "core.fileMode", value)
    assert (await read_checkout(runner, top)).trusts_exec_bit == expected


async def test_settings_in_an_included_file_count(runner: Git, top: Path) -> None:
    write(top, {".git/more": "[core]\n\tfileMode = false\n"})
    git(top, "config", "include.path", "more")
    assert not (await read_checkout(runner, top)).trusts_exec_bit


async def test_the_object_format_is_read(runner: Git, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "s", {"a": ""}, "--object-format=sha256")
    assert (await read_checkout(runner, top)).object_format == "sha256"


async def test_a_linked_work_tree_names_the_store_it_shares(runner: Git, top: Path) -> None:
    git(top, "worktree", "add", "-q", "-b", "side", "../linked")
    checkout = await read_checkout(runner, top.parent / "linked")
    assert checkout.objects == top / ".git" / "objects"
    assert checkout.git_dir == top / ".git" / "worktrees" / "linked"
    assert checkout.branch == b"refs/heads/side"


async def test_a_repository_whose_git_directory_is_elsewhere_is_read(runner: Git, tmp_path: Path) -> None:
    shell(
        tmp_path,
        "git init -q --separate-git-dir=store work; cd work; git config user.name a; git config user.email b",
    )
    write(tmp_path / "work", {"a": ""})
    commit(tmp_path / "work", "x")
    checkout = await read_checkout(runner, tmp_path / "work")
    assert checkout.objects == tmp_path / "store" / "objects"


async def test_an_unknown_repository_format_is_an_error_in_gits_words(runner: Git, top: Path) -> None:
    git(top, "config", "core.repositoryFormatVersion", "99")
    with pytest.raises(WorkspaceError, match="99"):
        await read_checkout(runner, top)
