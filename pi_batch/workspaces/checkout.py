"""A user's repository, read and never written.

The repository is found by looking for `.git` upwards, as git does, and is then named to every git call:
who owns it, `core.worktree` and `core.bare` do not matter, and no call discovers another one. Nothing is
cloned from it: a clone would run upload-pack inside it, with its config.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place
from pi_batch.workspaces.layout import common_directory, repository_of

_FALSE = frozenset({"false", "no", "off", "0", ""})


class Commit(Struct, frozen=True):
    """A commit as far as a start needs it."""

    oid: str
    tree: str
    time_s: int
    """Of its committer, since the epoch."""


class Checkout(Struct, frozen=True):
    """A work tree and its repository."""

    top: Path
    git_dir: Path
    objects: Path
    object_format: str
    branch: bytes | None
    """refs/heads/NAME; None when HEAD is detached."""
    head: Commit | None
    """None before the first commit."""
    refs: Mapping[bytes, str]
    """Branches, tags and remote-tracking branches."""
    symbolic: Mapping[bytes, bytes]
    shallow: bytes
    exclude: bytes
    trusts_exec_bit: bool

    @property
    def place(self) -> Place:
        """For git calls that read it."""
        return Place(self.git_dir, self.top)


def find_top(source: Path) -> Path | None:
    """The work tree that a directory belongs to; None when it belongs to none.

    Raises: WorkspaceError for a bare repository and for the inside of a `.git`.
    """
    if ".git" in source.parts:
        raise WorkspaceError(f"{source}: is inside a repository's .git; name its work tree")
    for directory in (source, *source.parents):
        dot_git = directory / ".git"
        if dot_git.is_file() or os.path.lexists(dot_git / "HEAD"):
            return directory
    if all(os.path.lexists(source / name) for name in ("HEAD", "objects", "refs")):
        raise WorkspaceError(f"{source}: is a bare repository, without files to work on; clone it first")
    return None


async def read_checkout(git: Git, top: Path) -> Checkout:
    """Read what a start needs to know of a repository. Raises: WorkspaceError with git's own words."""
    git_dir = repository_of(top)
    common = common_directory(git_dir)
    place = Place(git_dir, top)
    refs, symbolic = await read_refs(git, place)  # first: it says best what is wrong with a repository
    settings = await _read_settings(git, place)
    target = (await git.run(place, "symbolic-ref", "-q", "HEAD", accepted=(0, 1))).stdout.strip()
    branch = target if target.startswith(b"refs/heads/") else None
    return Checkout(
        top=top,
        git_dir=git_dir,
        objects=common / "objects",
        object_format=settings.get("extensions.objectformat", "sha1"),
        branch=branch,
        head=await _read_head(git, place, None if branch is None else refs.get(branch, "")),
        refs=refs,
        symbolic=symbolic,
        shallow=_content(common / "shallow"),
        exclude=_content(common / "info" / "exclude"),
        trusts_exec_bit=settings.get("core.filemode", "true") not in _FALSE,
    )


async def read_refs(git: Git, place: Place) -> tuple[dict[bytes, str], dict[bytes, bytes]]:
    """Branches, tags and remote-tracking branches; those that name another are apart."""
    line = "--format=%(objectname)%00%(refname)%00%(symref)"
    kinds = ("refs/heads", "refs/tags", "refs/remotes")
    refs: dict[bytes, str] = {}
    symbolic: dict[bytes, bytes] = {}
    for record in (await git.run(place, "for-each-ref", line, *kinds)).stdout.split(b"\n"):
        if not record:
            continue
        oid, name, target = record.split(b"\0")
        if target:
            symbolic[name] = target
        else:
            refs[name] = oid.decode("ascii")
    return refs, symbolic


async def _read_head(git: Git, place: Place, oid: str | None) -> Commit | None:
    """`oid` is the branch's commit, "" before there is one; None asks git: HEAD is detached."""
    if oid is None:
        oid = (await git.run(place, "rev-parse", "--verify", "HEAD")).stdout.decode("ascii").strip()
    if not oid:
        return None
    return await read_commit(git, place, oid)


async def read_commit(git: Git, place: Place, oid: str) -> Commit:
    """A commit by its id. Raises: WorkspaceError."""
    header = (await git.run(place, "cat-file", "commit", oid)).stdout.partition(b"\n\n")[0]
    tree = re.search(rb"^tree ([0-9a-f]+)$", header, re.MULTILINE)
    time_s = re.search(rb"^committer .* (\d+) [+-]\d+$", header, re.MULTILINE)
    if tree is None:
        raise WorkspaceError(f"{place.git_dir}: commit {oid} names no tree")
    return Commit(oid, tree[1].decode("ascii"), int(time_s[1]) if time_s else 0)


async def _read_settings(git: Git, place: Place) -> dict[str, str]:
    """The repository's own settings that decide how it is read. An `include` can't start a program."""
    names = r"^(core\.filemode|extensions\.objectformat)$"
    output = await git.run(
        place, "config", "--local", "--includes", "-z", "--get-regexp", names, accepted=(0, 1)
    )
    pairs = (record.partition("\n") for record in output.stdout.decode("utf-8", "replace").split("\0"))
    return {key: value.strip().lower() for key, _, value in pairs if key}


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
