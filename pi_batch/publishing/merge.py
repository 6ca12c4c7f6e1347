"""A patch on top of a commit, made in git's object store alone: no working file is touched.

The patch is against the run's start; where the branch has moved on since, it is merged three ways. What
comes out is a tree, so that what is judged is exactly what would be published.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place
from pi_batch.publishing.policy import Change

_SPECIAL_MODE = re.compile(rb"^(?:new file mode|new mode) (120000|160000)$", re.MULTILINE)
"""In a header only: every line of a hunk begins with a sign, every line of a binary patch has no space."""


class NotPublished(Exception):
    """Why a patch is not published, one line: a conflict, or something that the policy forbids."""


class Merged(Struct, frozen=True):
    """What the patch makes of a commit."""

    base: str
    """The commit that it was put on."""
    tree: str
    """Object id of the result."""
    changes: tuple[Change, ...]
    is_three_way: bool
    """True when the patch did not apply as it stands, and was merged."""


async def merge(git: Git, place: Place, base: str, patch: bytes) -> Merged:
    """Put a patch on a commit. Raises: NotPublished for a conflict, WorkspaceError."""
    async with _index(place) as own:
        await git.run(own, "read-tree", base)
        is_three_way = False
        try:
            await _apply(git, own, patch)
        except WorkspaceError:
            is_three_way = True
            await git.run(own, "read-tree", base)
            await _apply_three_way(git, own, patch)
        tree = (await git.run(own, "write-tree")).stdout.decode().strip()
    return Merged(base, tree, await changes(git, place, base, tree), is_three_way)


async def changes_in(git: Git, place: Place, patch: bytes) -> tuple[Change, ...]:
    """What a patch says that it changes, as git reads it. Raises: NotPublished when it can't be read."""
    try:
        output = await git.run(place, "apply", "--numstat", "-z", "-", stdin=patch)
    except WorkspaceError as error:
        raise NotPublished(f"the patch cannot be read: {error}") from error
    special = {mode.decode() for mode in _SPECIAL_MODE.findall(patch)}
    mode = min(special, default="100644")
    fields = iter(output.stdout.split(b"\0"))
    found = []
    for field in fields:
        name = field.split(b"\t", 2)[-1]
        names = [name] if name else [next(fields, b""), next(fields, b"")]
        found += [Change(os.fsdecode(path), "M", mode) for path in names if path]
    return tuple(found)


async def changes(git: Git, place: Place, old: str, new: str) -> tuple[Change, ...]:
    """What differs between two commits or trees, path by path, without guessing at renames."""
    output = await git.run(
        replace(place, work_tree=None), "diff-tree", "-r", "-z", "--raw", "--no-renames", old, new
    )
    fields = output.stdout.split(b"\0")
    found = []
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        _old_mode, mode, _old_id, _new_id, status = meta.decode("ascii").removeprefix(":").split(" ")
        found.append(Change(os.fsdecode(path), status, mode))
    return tuple(found)


async def _apply(git: Git, own: Place, patch: bytes) -> None:
    await git.run(own, "apply", "--cached", "--binary", "--whitespace=nowarn", "-", stdin=patch)


async def _apply_three_way(git: Git, own: Place, patch: bytes) -> None:
    """Merge it in. Raises: NotPublished naming the paths in conflict."""
    try:
        await git.run(own, "apply", "--cached", "--3way", "--binary", "--whitespace=nowarn", "-", stdin=patch)
    except WorkspaceError as error:
        unmerged = (await git.run(own, "ls-files", "--unmerged", "-z")).stdout
        paths = sorted({os.fsdecode(line.split(b"\t", 1)[1]) for line in unmerged.split(b"\0") if line})
        if paths:
            shown = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
            raise NotPublished(f"conflict with what was changed since the start: {shown}") from error
        raise NotPublished(f"the patch does not apply here: {error}") from error


@asynccontextmanager
async def _index(place: Place) -> AsyncIterator[Place]:
    """An index of its own, so that the user's stays as it is."""
    with tempfile.TemporaryDirectory(prefix="pi-batch-apply-") as directory:
        yield replace(place, index=Path(directory) / "index")
