"""Repository directories of our own, as git sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.boundary import never
from pi_batch.workspaces.layout import Heads, common_directory, copy_repository, repository_of, write_shadow
from pi_batch.workspaces.objects import ObjectStore
from tests.workspaces.repositories import git, make_repository, shell, write


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_shadow_is_a_bare_repository(tmp_path: Path, object_format: str) -> None:
    write_shadow(tmp_path / "s.git", object_format, Heads("ref: refs/heads/main"))
    assert git(tmp_path / "s.git", "rev-parse", "--is-bare-repository") == "true"
    assert git(tmp_path / "s.git", "rev-parse", "--show-object-format") == object_format
    git(tmp_path / "s.git", "fsck", "--strict")


def filled_shadow(tmp_path: Path) -> tuple[Path, str]:
    shadow = tmp_path / "s.git"
    write_shadow(shadow, "sha1", Heads("ref: refs/heads/main"))
    store = ObjectStore(shadow / "objects", "sha1")
    tree = store.add(b"", "tree")
    stamp = b"a <a@b> 1 +0000"
    oid = store.add(b"tree %s\nauthor %s\ncommitter %s\n\nm\n" % (tree.encode(), stamp, stamp), "commit")
    return shadow, oid


def test_an_agents_repository_has_the_shadows_refs_and_no_remote(tmp_path: Path) -> None:
    shadow, oid = filled_shadow(tmp_path)
    names = ("refs/heads/main", "refs/heads/a/b", "refs/tags/v1", "refs/remotes/origin/main")
    heads = Heads(
        "ref: refs/heads/main",
        {name.encode(): oid for name in names},
        {b"refs/remotes/origin/HEAD": b"refs/remotes/origin/main"},
        exclude=b"mine\n",
    )
    from pi_batch.workspaces.layout import write_heads

    write_heads(shadow, heads)
    (shadow / "info" / "exclude").write_bytes(heads.exclude)
    top = tmp_path / "w"
    copy_repository(shadow, top / ".git", "sha1", never)
    listed = git(top, "for-each-ref", "--format=%(refname)").split("\n")
    assert listed == sorted((*names, "refs/remotes/origin/HEAD"))
    assert git(top, "rev-parse", "origin") == oid
    assert git(top, "remote") == ""
    assert git(top, "check-ignore", "mine") == "mine"
    git(top, "fsck", "--strict")


def test_an_agents_repository_converts_no_file(tmp_path: Path) -> None:
    shadow, _ = filled_shadow(tmp_path)
    top = tmp_path / "w"
    copy_repository(shadow, top / ".git", "sha1", never)
    write(top, {".gitattributes": "* text=auto eol=crlf ident filter=x working-tree-encoding=UTF-16\n"})
    write(top, {"f": b"a\r\n$Id$\n"})
    attributes = git(top, "check-attr", "text", "eol", "ident", "filter", "working-tree-encoding", "--", "f")
    assert attributes.split("\n") == [
        "f: text: unset",
        "f: eol: unspecified",
        "f: ident: unset",
        "f: filter: unspecified",
        "f: working-tree-encoding: unspecified",
    ]
    shell(top, "git config filter.x.clean 'touch leak; cat'; git config filter.x.required true; git add f")
    assert git(top, "cat-file", "-p", ":f") == "a\r\n$Id$"
    assert not (top / "leak").exists()


def test_the_repository_of_a_work_tree_is_found(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "p", {"a": ""})
    git(top, "worktree", "add", "-q", "-b", "side", "../linked")
    assert repository_of(top) == top / ".git"
    assert repository_of(tmp_path / "linked") == top / ".git" / "worktrees" / "linked"
    assert common_directory(top / ".git" / "worktrees" / "linked") == top / ".git"
    assert common_directory(top / ".git") == top / ".git"


@pytest.mark.parametrize("content", ["gitdir: /nonexistent\n", "nonsense\n", ""])
def test_a_git_file_that_names_no_repository_is_an_error(tmp_path: Path, content: str) -> None:
    write(tmp_path, {".git": content})
    with pytest.raises(WorkspaceError, match="names no repository"):
        repository_of(tmp_path)


def test_a_work_tree_without_a_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="No such file"):
        repository_of(tmp_path)
