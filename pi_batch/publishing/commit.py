"""Commits and branches made of object ids: no hook runs, nothing is checked out that was not asked for."""

from __future__ import annotations

import re

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place
from pi_batch.publishing.merge import Merged, NotPublished

TASK_TRAILER = "Pi-Batch-Task"
"""Marks a commit as this program's: only such a branch is ever replaced."""
REF_PREFIX = "refs/heads/"


class Author(Struct, frozen=True):
    """Who a commit is by."""

    name: str
    email: str

    def __str__(self) -> str:
        """`Name <email>`, as git writes it."""
        return f"{self.name} <{self.email}>"


def author_of(text: str) -> Author | None:
    """`Name <email>`, or None when it is not of this form."""
    match = re.fullmatch(r"\s*([^<>\n\0]*[^<>\s\0])\s*<([^<>\s\0]+)>\s*", text)
    return Author(match[1], match[2]) if match else None


async def resolve(git: Git, place: Place, revision: str) -> str | None:
    """A commit's object id; None when there is no such commit."""
    output = await git.run(
        place,
        *("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"),
        accepted=(0, 1, 128),
    )
    return output.stdout.decode().strip() or None


async def make_commit(
    git: Git, place: Place, merged: Merged, *, message: str, author: Author, time_s: int
) -> str:
    """Write a commit object; its id."""
    who = f"{author} {time_s} +0000"
    content = f"tree {merged.tree}\nparent {merged.base}\nauthor {who}\ncommitter {who}\n\n{message}"
    output = await git.run(
        place,
        *("hash-object", "-t", "commit", "-w", "--stdin"),
        stdin=content.encode("utf-8", "replace"),
    )
    return output.stdout.decode().strip()


async def to_tree(git: Git, place: Place, patch: bytes, head: str, merged: Merged | None) -> None:
    """Put a patch into the working files, wholly or not at all; `merged` is the way where it moved on.

    Raises: NotPublished.
    """
    try:
        await git.run(place, "apply", "--binary", "--whitespace=nowarn", "-", stdin=patch)
    except WorkspaceError as error:
        if merged is None or not merged.is_three_way:
            raise NotPublished(f"the patch does not apply to the working files: {error}") from error
        diff = await git.run(
            place, "diff-tree", "-p", "--binary", "--full-index", "--no-ext-diff", head, merged.tree
        )
        try:
            await git.run(place, "apply", "--binary", "--whitespace=nowarn", "-", stdin=diff.stdout)
        except WorkspaceError as again:
            raise NotPublished(
                f"the working files differ from HEAD where the patch changes them: {again}"
            ) from again


async def to_head(git: Git, place: Place, commit: str, head: str) -> None:
    """Move HEAD to a commit on top of it, working files too; those that differ are left as they are.

    Raises: NotPublished when a file that the commit changes has changes of its own.
    """
    try:
        await git.run(place, "read-tree", "-m", "-u", head, commit)
    except WorkspaceError as error:
        raise NotPublished(f"the working files have changes of their own: {error}") from error
    await git.run(place, "update-ref", "-m", "pi-batch apply", "HEAD", commit, head)


async def to_branch(git: Git, place: Place, commit: str, name: str) -> str:
    """Let a branch name a commit, or stay where it is with the same change; where it is then.

    Raises: NotPublished when it holds commits that are not ours.
    """
    ref = f"{REF_PREFIX}{name}"
    current = await git.run(place, "symbolic-ref", "--quiet", "HEAD", accepted=(0, 1))
    if current.stdout.decode().strip() == ref:
        raise NotPublished(f"branch {name} is checked out: change to another one")
    old = await resolve(git, place, ref)
    if old is not None and not await is_ours(git, place, old):
        raise NotPublished(f"branch {name} holds commits that are not pi-batch's: it is left alone")
    if old is not None and await is_same_change(git, place, old, commit):
        return old
    await git.run(place, "update-ref", "-m", "pi-batch apply", ref, commit, old or "0" * len(commit))
    return commit


async def is_ours(git: Git, place: Place, commit: str) -> bool:
    """True for a commit that this program made."""
    content = (await git.run(place, "cat-file", "commit", commit)).stdout
    return re.search(rf"^{TASK_TRAILER}: ".encode(), content, re.MULTILINE) is not None


async def is_same_change(git: Git, place: Place, first: str, second: str) -> bool:
    """True for two commits with the same files and the same parents: only who, when and words may differ."""
    found = [await _substance(git, place, commit) for commit in (first, second)]
    return found[0] == found[1]


async def _substance(git: Git, place: Place, commit: str) -> list[bytes]:
    header = (await git.run(place, "cat-file", "commit", commit)).stdout.partition(b"\n\n")[0]
    return [line for line in header.split(b"\n") if line.startswith((b"tree ", b"parent "))]


def branch_name(prefix: str, key: str) -> str:
    """A stable name for a task's branch: the same night after night."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", key).strip("-.") or "task"
    return f"{prefix}{re.sub(r'[.]{2,}|[.]lock$', '-', safe)}"
