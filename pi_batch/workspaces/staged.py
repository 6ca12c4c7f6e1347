"""What is about to be committed: the index as a tree, its difference from HEAD, its files on their own.

A hook runs while git holds the index, perhaps one of a partial commit (GIT_INDEX_FILE); so that is what is
read here, never the working files.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.git import Git, Place
from pi_batch.workspaces.checkout import find_top
from pi_batch.workspaces.layout import repository_of


class StagedDiff(Struct, frozen=True):
    """What is staged, as a model is given it."""

    text: bytes
    files: int
    left_out: int
    """Of these files, those that there was no room for."""


class Staged(Struct, frozen=True):
    """Two trees of a repository: what is there, and what is to be."""

    git: Git
    place: Place
    old: str
    """Object id of the tree of HEAD, of the other end of a range, or of nothing."""
    new: str

    @property
    def is_empty(self) -> bool:
        """True when a commit would change nothing."""
        return self.old == self.new

    async def diff(self, limit_bytes: int) -> StagedDiff:
        """The difference as people read it, binary files only named; of what is too long, whole files."""
        output = await self.git.run(
            replace(self.place, index=None, work_tree=None),
            *("diff-tree", "-r", "-p", "--stat", "--find-renames", "--no-ext-diff", "--no-textconv"),
            *("--no-color", self.old, self.new),
        )
        return _bounded(output.stdout, limit_bytes)

    async def write_to(self, directory: Path) -> None:
        """Put the files of the new tree into an empty directory."""
        with tempfile.TemporaryDirectory(prefix="pi-batch-index-") as temporary:
            own = replace(self.place, index=Path(temporary) / "index")
            await self.git.run(own, "read-tree", self.new)
            await self.git.run(own, "checkout-index", "--all", "--force", f"--prefix={directory}/")


def _bounded(diff: bytes, limit_bytes: int) -> StagedDiff:
    """As many whole files as there is room for; of the others their first line, as long as these fit."""
    files = re.split(rb"^(?=diff --git )", diff, flags=re.MULTILINE)[1:]
    if len(diff) <= limit_bytes:
        return StagedDiff(diff, len(files), 0)
    room_for_names = limit_bytes // 8
    room = limit_bytes - room_for_names
    parts: list[bytes] = []
    left_out = unnamed = 0
    for file in files:
        if len(file) <= room:
            room -= len(file)
            parts.append(file)
            continue
        name = file[: file.find(b"\n") + 1] + b"(%d bytes of diff are left out: read the file)\n" % len(file)
        is_named = left_out == 0 or len(name) <= room_for_names
        parts += [name] if is_named else []
        room_for_names -= len(name) if is_named else 0
        left_out, unnamed = left_out + 1, unnamed + (not is_named)
    if unnamed:
        parts.append(b"... and %d more files\n" % unnamed)
    return StagedDiff(b"".join(parts), len(files), left_out)


async def read_staged(git: Git, cwd: Path, environ: Mapping[str, str]) -> Staged:
    """What the index holds, or the range that pre-commit names (PRE_COMMIT_FROM_REF to PRE_COMMIT_TO_REF).

    Raises: UsageError outside of a repository and for a range that is not there, WorkspaceError.
    """
    top = find_top(cwd)
    if top is None:
        raise UsageError(f"{cwd}: no git repository")
    place = Place(repository_of(top), top)
    start, end = environ.get("PRE_COMMIT_FROM_REF"), environ.get("PRE_COMMIT_TO_REF")
    if start and end:
        base = await _merge_base(git, place, start, end)
        return Staged(git, place, await _tree(git, place, base), await _tree(git, place, end))
    index = environ.get("GIT_INDEX_FILE")
    with tempfile.TemporaryDirectory(prefix="pi-batch-index-") as temporary:
        # A copy: writing a tree refreshes an index, and this one is git's, in the middle of a commit.
        own = Path(temporary) / "index"
        source = top / index if index else place.git_dir / "index"
        if source.exists():
            shutil.copyfile(source, own)
        new = (await git.run(replace(place, index=own), "write-tree")).stdout.decode().strip()
    return Staged(git, place, await _tree(git, place, "HEAD"), new)


async def _tree(git: Git, place: Place, revision: str) -> str:
    """A commit's tree; the empty tree where HEAD has no commit yet. Raises: UsageError for another one."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}")
    output = await git.run(place, *words, accepted=(0, 1, 128))
    oid = output.stdout.decode().strip()
    if oid:
        return oid
    if revision != "HEAD":
        raise UsageError(f"{revision}: no such commit here")
    made = await git.run(place, "hash-object", "-t", "tree", "-w", "--stdin", stdin=b"")
    return made.stdout.decode().strip()


async def _merge_base(git: Git, place: Place, start: str, end: str) -> str:
    output = await git.run(place, "merge-base", start, end, accepted=(0, 1, 128))
    return output.stdout.decode().strip() or start


def index_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what git tells its hooks: programs started from here must not obey it."""
    return {name: value for name, value in environ.items() if not name.startswith("GIT_")}
