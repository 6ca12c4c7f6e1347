"""How a workspace differs from its start, and clean copies of either state."""

from __future__ import annotations

import os
import posixpath
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from pi_batch.git import Place
from pi_batch.protocols import Changes
from pi_batch.workspaces.boundary import in_thread, workspace_errors
from pi_batch.workspaces.links import inner_target, links_back, with_portable_links
from pi_batch.workspaces.listing import IgnoreRules
from pi_batch.workspaces.names import (
    directories_of,
    display,
    environments_of,
    is_by_product,
    is_storable,
    relative_to_workspace,
    shown,
    without_environments,
)
from pi_batch.workspaces.protection import compile_protection, put_back, restore
from pi_batch.workspaces.reading import Entries, Reader
from pi_batch.workspaces.removal import remove_tree
from pi_batch.workspaces.saved import Start
from pi_batch.workspaces.shadow import Shadow, StoredTree

MAX_NEW_BYTES = 100 << 20
"""A larger new or changed file is left out of the patch, and said: it is a download or a core dump."""
LIST_TIMEOUT_S = 120.0
_MAX_LINKS = 16


class Snapshot(Struct, frozen=True):
    """The agent's directory at one moment."""

    entries: Entries
    tree: str
    links_back: frozenset[bytes] = frozenset()
    """Links that reach the agent's or the user's tree from outside: clean copies go without."""
    warnings: tuple[str, ...] = ()


class StartFiles(Struct, frozen=True):
    """The start's tree, and what is asked of it again and again."""

    entries: Entries
    trees: frozenset[str]
    links: Mapping[bytes, bytes]
    """Links by path, with their targets."""
    frozen: frozenset[bytes]
    """By-products of tools in a start that holds everything: part of it, never of a patch."""
    environments: frozenset[bytes] = frozenset()
    """Virtual environments among them, each with a slash at its end: new files in there neither."""


class Copy:
    """A clean copy on disk."""

    def __init__(self, path: str, directory: Path) -> None:
        self.path = path
        self._directory = directory

    async def close(self) -> None:
        """Remove it. Raises: WorkspaceError."""
        with workspace_errors(self.path):
            await in_thread(lambda _: remove_tree(self._directory))


class Tracking:
    """A start, and what has become of it."""

    def __init__(
        self,
        shadow: Shadow,
        state_dir: Path,
        start: Start,
        rules: IgnoreRules,
        stored: StoredTree | None = None,
    ) -> None:
        self._shadow = shadow
        self._state_dir = state_dir
        self._start = start
        self._root = Path(start.root)
        self._rules = rules
        self._ignored = frozenset(os.fsencode(path) for path in start.ignored)
        self._stored = stored
        """What the start's tree holds; None: only the shadow knows."""
        self._files: StartFiles | None = None
        self._snapshot: Snapshot | None = None

    async def changes(self, protect: Sequence[str]) -> Changes:
        """Compare the directory as it is now with the start."""
        start = await self._start_files()
        protection = compile_protection(protect, self._start.prefix, start.links)
        snapshot = self._snapshot = await self._take_snapshot(start)
        restored = restore(start.entries, snapshot.entries, protection)
        touched = tuple(display(relative_to_workspace(path, self._start.prefix)) for path in restored.touched)
        if snapshot.tree == self._start.tree:
            return Changes(b"", (), touched, snapshot.warnings)
        difference = await self._shadow.compare(self._start.tree, snapshot.tree, self._start.prefix)
        return Changes(difference.patch, difference.files, touched, snapshot.warnings)

    async def clean_copy(self, state: Literal["start", "patched"], protect: Sequence[str]) -> Copy:
        """Make a copy of the start, or of start plus the last patch, that the agent has never seen.

        The last patch is the one that `changes` gave last (taken now where it was never asked), so that
        what is judged is what is reported, also while processes of the agent still write.
        """
        start = await self._start_files()
        entries = start.entries
        if state == "patched":
            if self._snapshot is None:
                self._snapshot = await self._take_snapshot(start)
            entries = self._judged(start, self._snapshot, protect)
        tree = await self._write_tree(start, await self._with_links_inside(entries))
        directory = Path(tempfile.mkdtemp(prefix="copy-", dir=self._state_dir))
        try:
            with workspace_errors(str(directory)):
                return await self._check_out(tree, directory)
        except BaseException:
            await in_thread(lambda _: remove_tree(directory))
            raise

    async def apply(self, patch: bytes) -> None:
        """Change the directory as a patch of `changes` says."""
        await self._shadow.apply(patch, self._root)

    async def start_file(self, path: str) -> bytes | None:
        """A file's content at the start, by path as seen from the workspace, links in the tree followed."""
        start = await self._start_files()
        inner = posixpath.normpath(posixpath.join(b"/", self._start.prefix, os.fsencode(path)))[1:]
        for _ in range(_MAX_LINKS):
            if inner not in start.links:
                break
            target = inner_target(inner, start.links[inner], (os.fsencode(self._root),))
            if target is None:
                return None
            inner = target
        entry = None if inner in start.links else start.entries.get(inner)
        return None if entry is None else (await self._shadow.read_blobs([entry.oid]))[entry.oid]

    # --- the two states ---

    async def _start_files(self) -> StartFiles:
        if self._files is None:
            stored = self._stored or await self._shadow.read_tree(self._start.tree)
            links = await self._shadow.read_links(stored.entries)
            untracked = await self._untracked(stored.entries) if self._start.keeps_by_products else []
            work = frozenset(without_environments(untracked))
            frozen = frozenset(path for path in untracked if is_by_product(path) or path not in work)
            self._files = StartFiles(stored.entries, stored.trees, links, frozen, environments_of(untracked))
        return self._files

    async def _untracked(self, entries: Entries) -> list[bytes]:
        base = self._start.base_commit
        tracked = (await self._shadow.read_tree(base)).entries if base else {}
        return [path for path in entries if path not in tracked]

    async def _take_snapshot(self, start: StartFiles) -> Snapshot:
        warnings: list[str] = []
        names = [path for path in start.entries if path not in start.frozen]
        names += await self._list_new(start, warnings)
        reader = Reader(self._shadow.store, start.entries, self._start.trusts_exec_bit, MAX_NEW_BYTES)
        with workspace_errors(self._start.root):
            reading = await in_thread(lambda checkpoint: reader.read(self._root, names, checkpoint))
        for path, reason in sorted(reading.skipped.items()):
            warnings.append(f"not in the patch: {display(path)!r}: {reason}")
        kept = (path for path in (*start.frozen, *reading.skipped) if path in start.entries)
        entries, _ = put_back(reading.entries, {path: start.entries[path] for path in kept})
        tree = await self._write_tree(start, entries)
        links = await self._shadow.read_links(_changed(start.entries, entries))
        back = links_back(self._root, links, (self._state_dir, Path(self._start.source_root)))
        if back:
            warnings.append(f"links out of the copy and back: {shown(back)}; clean copies are without them")
        return Snapshot(entries, tree, frozenset(back), tuple(warnings))

    async def _list_new(self, start: StartFiles, warnings: list[str]) -> list[bytes]:
        if self._root.is_symlink() or not self._root.is_dir():
            return []
        others = await self._shadow.list_new(self._root, self._rules, timeout_s=LIST_TIMEOUT_S)
        warnings += others.complaints
        known = self._ignored | start.frozen | start.environments
        new = [path for path in others.names if known.isdisjoint((path, *directories_of(path)))]
        unnameable = [path for path in new if not is_storable(path)]
        if unnameable:
            warnings.append(f"not in the patch, as git takes no such names: {shown(unnameable)}")
        return [path for path in new if is_storable(path)]

    async def _write_tree(self, start: StartFiles, entries: Entries) -> str:
        if entries == start.entries:
            return self._start.tree
        return (await self._shadow.write_tree(entries, start.trees)).top

    # --- a copy ---

    def _judged(self, start: StartFiles, snapshot: Snapshot, protect: Sequence[str]) -> Entries:
        """What a clean copy of the work holds: protected paths from the start, nothing that leads back."""
        own = self._start.prefix  # whatever the agent made of its directory, a copy's is a directory
        left_out = snapshot.links_back.union(path.rstrip(b"/") for path in directories_of(own))
        entries = {path: entry for path, entry in snapshot.entries.items() if path not in left_out}
        protection = compile_protection(protect, own, start.links)
        return restore(start.entries, entries, protection).entries

    async def _with_links_inside(self, entries: Entries) -> Entries:
        """Absolute links into the agent's directory lead into the copy instead."""
        links = await self._shadow.read_links(entries)
        if not links:
            return entries
        roots = (os.fsencode(self._root),)
        with workspace_errors(self._start.root):
            return with_portable_links(entries, links, roots, self._shadow.store)

    async def _check_out(self, tree: str, directory: Path) -> Copy:
        start, shadow = self._start, self._shadow
        root = directory / self._root.name
        root.mkdir()
        if start.has_repository:
            await shadow.make_repository(root / ".git")
            place = Place(root / ".git", root)
        else:
            place = Place(shadow.git_dir, root, directory / "index")
        await shadow.check_out(tree, place)
        if start.has_repository:
            await shadow.set_index(start.index_commit, place)
        for name in start.empty_directories:
            (root / name).mkdir(parents=True, exist_ok=True)
        path = root / os.fsdecode(start.prefix)
        path.mkdir(parents=True, exist_ok=True)
        return Copy(str(path), directory)


def _changed(start: Entries, entries: Entries) -> Entries:
    return {path: entry for path, entry in entries.items() if start.get(path) != entry}
