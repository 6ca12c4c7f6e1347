"""The private repository behind a workspace: holds the start, stores what is found, computes every diff.

It lies outside the agent's tree, with a config of its own. Whatever becomes of the agent's `.git`
(deleted, committed to, reset, given hooks, filters or an fsmonitor), it is not asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, GitTimeout, Place
from pi_batch.results import ChangedFile
from pi_batch.workspaces.boundary import in_thread, workspace_errors
from pi_batch.workspaces.differences import parse_changed_files
from pi_batch.workspaces.index import index_of
from pi_batch.workspaces.layout import copy_repository
from pi_batch.workspaces.listing import IgnoreRules, Others, list_others
from pi_batch.workspaces.objects import ObjectStore
from pi_batch.workspaces.reading import LINK, Entries, Entry
from pi_batch.workspaces.trees import Trees, write_trees

_IDENTITY = "pi-batch <pi-batch@localhost>"
_LONG_AGO_S = 946684800
"""2000-01-01: the date of a start without a commit before it."""

_DIFF = ("diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--find-renames")
_PATCH = (
    "--binary",
    "--full-index",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


class Difference(Struct, frozen=True):
    """Two trees compared."""

    patch: bytes
    files: tuple[ChangedFile, ...]


class StoredTree(Struct, frozen=True):
    """A tree that is in the store."""

    entries: Entries
    trees: frozenset[str] = frozenset()
    """Ids of the trees inside it, its own maybe."""


class Shadow(Struct, frozen=True):
    """A shadow repository that is there."""

    git: Git
    git_dir: Path
    object_format: str

    @property
    def store(self) -> ObjectStore:
        """Its objects."""
        return ObjectStore(self.git_dir / "objects", self.object_format)

    @property
    def start_index(self) -> Path:
        """The index that names the files of the start."""
        return self.git_dir / "start-index"

    async def write_tree(self, entries: Entries, stored: Collection[str]) -> Trees:
        """Store a tree; the trees named in `stored` are there already.

        Raises: WorkspaceError.
        """
        with workspace_errors(str(self.git_dir)):
            return await in_thread(lambda _: write_trees(entries, self.store, stored))

    async def write_start_index(self, entries: Entries) -> None:
        """Write the index that names the files of the start. Raises: WorkspaceError."""
        with workspace_errors(str(self.git_dir)):
            content = index_of(entries, self.object_format)
            await in_thread(lambda _: self.start_index.write_bytes(content))

    def write_commit(self, tree: str, parent: str | None, time_s: int | None, message: str) -> str:
        """Store a commit; the same content gives the same id, whoever makes it and when."""
        stamp = f"{_IDENTITY} {_LONG_AGO_S if time_s is None else time_s} +0000"
        lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
        lines += [f"author {stamp}", f"committer {stamp}", "", message, ""]
        return self.store.add("\n".join(lines).encode("utf-8"), "commit")

    async def read_tree(self, treeish: str) -> StoredTree:
        """A stored tree, flat."""
        listed = await self.git.run(Place(self.git_dir), "ls-tree", "-r", "-t", "-z", "--full-tree", treeish)
        entries: dict[bytes, Entry] = {}
        trees: set[str] = set()
        for record in listed.stdout.split(b"\0"):
            if record:
                fields, _, path = record.partition(b"\t")
                mode, kind, oid = fields.decode("ascii").split(" ")
                if kind == "tree":
                    trees.add(oid)
                else:
                    entries[path] = Entry(mode, oid)
        return StoredTree(entries, frozenset(trees))

    async def read_blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The content of blobs."""
        wanted = sorted(set(oids))
        if not wanted:
            return {}
        stdin = "".join(f"{oid}\n" for oid in wanted).encode("ascii")
        answer = (await self.git.run(Place(self.git_dir), "cat-file", "--batch", stdin=stdin)).stdout
        contents: dict[str, bytes] = {}
        position = 0
        for oid in wanted:
            end = answer.index(b"\n", position)
            header = answer[position:end].split(b" ")
            if len(header) != 3:
                raise WorkspaceError(f"{self.git_dir}: object {oid} is missing")
            size = int(header[2])
            contents[oid] = answer[end + 1 : end + 1 + size]
            position = end + size + 2
        return contents

    async def read_links(self, entries: Entries) -> dict[bytes, bytes]:
        """The targets of all links in a tree, by path."""
        links = {path: entry.oid for path, entry in entries.items() if entry.mode == LINK}
        contents = await self.read_blobs(links.values())
        return {path: contents[oid] for path, oid in links.items()}

    async def list_new(self, root: Path, rules: IgnoreRules, *, timeout_s: float) -> Others:
        """Files under a directory that are not in the start and not ignored. Raises: GitTimeout."""
        place = Place(self.git_dir, root, self.start_index)
        try:
            async with asyncio.timeout(timeout_s):
                return await list_others(self.git, place, rules)
        except TimeoutError as error:
            raise GitTimeout(f"{root}: its files are not listed after {timeout_s:g} s") from error

    async def compare(self, old: str, new: str, prefix: bytes) -> Difference:
        """The patch between two trees, and its files as seen from the workspace at `prefix`."""
        place = Place(self.git_dir)
        patch = await self.git.run(place, *_DIFF, "-p", *_PATCH, old, new)
        names = await self.git.run(place, *_DIFF, "-z", "--raw", "--numstat", "--no-abbrev", old, new)
        return Difference(patch.stdout, parse_changed_files(names.stdout, prefix))

    async def apply(self, patch: bytes, root: Path) -> None:
        """Change files below a directory as a patch says. Raises: WorkspaceError where it does not fit."""
        place = Place(self.git_dir, root, self.start_index)
        await self.git.run(place, "apply", "--binary", "--whitespace=nowarn", "-", stdin=patch)

    async def make_repository(self, git_dir: Path) -> None:
        """Make a repository for a work tree: a copy of this one, with a config for agents."""
        copied = self.git_dir, git_dir, self.object_format
        with workspace_errors(str(git_dir)):
            await in_thread(lambda checkpoint: copy_repository(*copied, checkpoint))

    async def check_out(self, tree: str, place: Place) -> None:
        """Write a tree's files, raw, into an empty directory, and its index."""
        await self.git.run(place, "read-tree", "--reset", "-u", tree)

    async def set_index(self, commit: str | None, place: Place) -> None:
        """Make an index show a commit, keeping what it knows of files that are as in the commit."""
        arguments = ("--empty",) if commit is None else ("-i", "-m", commit)
        await self.git.run(place, "read-tree", *arguments)
