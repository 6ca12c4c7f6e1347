"""How a workspace differs from its start, and clean copies of either state."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pi_batch.protocols import Changes
from pi_batch.workspaces.boundary import in_thread, workspace_errors
from pi_batch.workspaces.git import Place
from pi_batch.workspaces.layout import copy_repository
from pi_batch.workspaces.links import links_back, with_portable_links
from pi_batch.workspaces.listing import IgnoreRules
from pi_batch.workspaces.names import display, is_by_product, is_storable, relative_to_workspace, shown
from pi_batch.workspaces.protection import Protection, compile_protection, put_back, restore
from pi_batch.workspaces.reading import Entries, Reader
from pi_batch.workspaces.removal import remove_tree
from pi_batch.workspaces.saved import Start
from pi_batch.workspaces.shadow import Shadow, StoredTree

MAX_NEW_BYTES = 100 << 20
"""A larger new or changed file is left out of the patch, and said: it is a download or a core dump."""
LIST_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The agent's directory at one moment."""

    entries: Entries
    tree: str
    links_back: tuple[bytes, ...] = ()
    """Links that reach the agent's or the user's tree from outside: clean copies go without."""
    warnings: tuple[str, ...] = ()


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

    def __init__(self, shadow: Shadow, state_dir: Path, start: Start, rules: IgnoreRules) -> None:
        self._shadow = shadow
        self._state_dir = state_dir
        self._start = start
        self._rules = rules
        self._start_tree: StoredTree | None = None
        self._snapshot: Snapshot | None = None

    async def changes(self, protect: Sequence[str]) -> Changes:
        """Compare the directory as it is now with the start."""
        start = await self._entries()
        protection = await self._protection(protect)
        snapshot = self._snapshot = await self._take_snapshot(start)
        restored = restore(start, snapshot.entries, protection)
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
        start = entries = await self._entries()
        if state == "patched":
            if self._snapshot is None:
                self._snapshot = await self._take_snapshot(start)
            wanted = {p: e for p, e in self._snapshot.entries.items() if p not in self._snapshot.links_back}
            entries = restore(start, wanted, await self._protection(protect)).entries
        entries = await self._with_links_inside(entries)
        tree = await self._write_tree(entries)
        directory = Path(tempfile.mkdtemp(prefix="copy-", dir=self._state_dir))
        try:
            with workspace_errors(str(directory)):
                return await self._check_out(tree, directory)
        except BaseException:
            await in_thread(lambda _: remove_tree(directory))
            raise

    async def start_file(self, path: str) -> bytes | None:
        """A file's content at the start, by path as seen from the workspace; None when it was none."""
        outer = os.path.normpath(os.path.join(b"/", self._start.prefix, os.fsencode(path)))  # noqa: PTH118
        entry = (await self._entries()).get(outer[1:])
        return None if entry is None else (await self._shadow.read_blobs([entry.oid]))[entry.oid]

    # --- the two states ---

    async def _entries(self) -> Entries:
        if self._start_tree is None:
            self._start_tree = await self._shadow.read_tree(self._start.tree)
        return self._start_tree.entries

    async def _write_tree(self, entries: Entries) -> str:
        if entries == await self._entries() or self._start_tree is None:
            return self._start.tree
        return await self._shadow.write_tree(entries, self._start_tree.trees)

    async def _protection(self, protect: Sequence[str]) -> Protection:
        links = await self._shadow.read_links(await self._entries()) if protect else {}
        return compile_protection(protect, self._start.prefix, links)

    async def _take_snapshot(self, start: Entries) -> Snapshot:
        warnings: list[str] = []
        frozen = await self._frozen(start)
        names = [path for path in start if path not in frozen]
        names += await self._list_new(frozen, warnings)
        root = Path(self._start.root)
        reader = Reader(self._shadow.store, start, self._start.trusts_exec_bit, MAX_NEW_BYTES)
        with workspace_errors(self._start.root):
            reading = await in_thread(lambda checkpoint: reader.read(root, names, checkpoint))
        for path, reason in sorted(reading.skipped.items()):
            warnings.append(f"not in the patch: {display(path)!r}: {reason}")
        kept = {path: start[path] for path in (*frozen, *reading.skipped) if path in start}
        entries, _ = put_back(reading.entries, kept)
        tree = await self._write_tree(entries)
        links = await self._shadow.read_links({p: e for p, e in entries.items() if start.get(p) != e})
        back = links_back(root, links, (self._state_dir, Path(self._start.source)))
        if back:
            warnings.append(f"links out of the copy and back: {shown(back)}; clean copies are without them")
        return Snapshot(entries, tree, back, tuple(warnings))

    async def _list_new(self, frozen: frozenset[bytes], warnings: list[str]) -> list[bytes]:
        root = Path(self._start.root)
        if root.is_symlink() or not root.is_dir():
            return []
        others = await self._shadow.list_new(root, self._rules, timeout_s=LIST_TIMEOUT_S)
        warnings += others.complaints
        new = [path for path in others.names if path not in frozen and not self._was_ignored(path)]
        unnameable = [path for path in new if not is_storable(path)]
        if unnameable:
            warnings.append(f"not in the patch, as git takes no such names: {shown(unnameable)}")
        return [path for path in new if is_storable(path)]

    async def _frozen(self, start: Entries) -> frozenset[bytes]:
        """By-products of tools in a start that holds everything: part of it, never of a patch."""
        if not self._start.keeps_by_products:
            return frozenset()
        base = self._start.base_commit
        tracked = (await self._shadow.read_tree(base)).entries if base else {}
        return frozenset(path for path in start if is_by_product(path) and path not in tracked)

    def _was_ignored(self, path: bytes) -> bool:
        ignored = self._start.ignored
        name = os.fsdecode(path)
        return name in ignored or any(name.startswith(item) for item in ignored if item.endswith("/"))

    # --- a copy ---

    async def _with_links_inside(self, entries: Entries) -> Entries:
        """Absolute links into the agent's directory lead into the copy instead."""
        links = await self._shadow.read_links(entries)
        if not links:
            return entries
        roots = (os.fsencode(self._start.root),)
        with workspace_errors(self._start.root):
            return with_portable_links(entries, links, roots, self._shadow.store)

    async def _check_out(self, tree: str, directory: Path) -> Copy:
        start, shadow = self._start, self._shadow
        root = directory / Path(start.root).name
        root.mkdir()
        git_dir = root / ".git"
        if start.has_repository:
            copied = git_dir, start.object_format
            await in_thread(lambda checkpoint: copy_repository(shadow.git_dir, *copied, checkpoint))
            place = Place(git_dir, root, git_dir / "index")
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
