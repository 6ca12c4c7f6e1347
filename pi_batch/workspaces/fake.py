"""A workspace for tests: no git, the start is kept in memory, directories are plain copies.

It keeps every promise of the Protocol for regular files with plain names; links and ignore rules it does
not know. Its patches carry whole files in git's binary form and apply with `git apply`.
Source: `literal` blocks, git's binary patch format (base 85, at most 52 bytes a line).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pi_batch.errors import WorkspaceError
from pi_batch.protocols import Changes, CleanCopy
from pi_batch.results import ChangedFile, FileStatus
from pi_batch.workspaces.boundary import workspace_errors
from pi_batch.workspaces.protection import compile_protection, restore
from pi_batch.workspaces.reading import EXECUTABLE, FILE, Entries, Entry
from pi_batch.workspaces.removal import remove_tree

_LINE_BYTES = 52
_NO_OBJECT = "0" * 40


class FakeWorkspace:
    """A copy of a directory, compared file by file."""

    def __init__(
        self,
        source: Path,
        state_dir: Path,
        include_uncommitted: bool = True,
        user_home: Path | None = None,
    ) -> None:
        self.isolation = "fake"
        self.source = str(source.absolute())
        self.path = self.source
        self.base_commit: str | None = None
        self.start_commit: str | None = None
        del include_uncommitted, user_home  # it takes everything, and knows no ignore rules
        self._state_dir = state_dir
        self._contents: dict[str, bytes] = {}
        self._start: Entries = {}
        self._last: Entries | None = None
        self._is_open = False

    async def open(self) -> tuple[str, ...]:
        """Copy the directory. Raises: WorkspaceError."""
        if not Path(self.source).is_dir():
            raise WorkspaceError(f"{self.source}: is no directory")
        target = self._state_dir.resolve() / "w" / Path(self.source).name
        kept = self._state_dir.resolve() / "start"
        with workspace_errors(self.source):
            if not kept.exists():
                left_out = shutil.ignore_patterns(".git", ".pi-batch")
                for copy in (kept, target):
                    shutil.copytree(self.source, copy, symlinks=True, ignore=left_out)
            self._start = self._read(kept)
        self.path = str(target)
        listed = sorted((path, entry.mode, entry.oid) for path, entry in self._start.items())
        self.start_commit = hashlib.sha1(repr(listed).encode(), usedforsecurity=False).hexdigest()
        self._is_open = True
        return ()

    async def changes(self, protect: Sequence[str]) -> Changes:
        """Compare with the start."""
        self._need_open()
        current = self._last = self._read(Path(self.path))
        touched = restore(self._start, current, compile_protection(protect, b"", {})).touched
        differing = sorted(
            p for p in self._start.keys() | current.keys() if self._start.get(p) != current.get(p)
        )
        return Changes(
            patch=b"".join(self._patch(path, self._start.get(path), current.get(path)) for path in differing),
            files=tuple(self._changed_file(path, current) for path in differing),
            protected_touched=tuple(os.fsdecode(path) for path in touched),
        )

    async def clean_copy(self, state: Literal["start", "patched"], protect: Sequence[str]) -> CleanCopy:
        """Write one of the states into a new directory."""
        self._need_open()
        entries = self._start
        if state == "patched":
            current = self._read(Path(self.path)) if self._last is None else self._last
            entries = restore(self._start, current, compile_protection(protect, b"", {})).entries
        root = Path(tempfile.mkdtemp(prefix="copy-", dir=self._state_dir.resolve())) / Path(self.source).name
        root.mkdir()
        for path, entry in entries.items():
            file = root / os.fsdecode(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self._contents[entry.oid])
            file.chmod(0o755 if entry.mode == EXECUTABLE else 0o644)
        return FakeCopy(str(root))

    async def apply(self, patch: bytes) -> None:
        """Let git change the copy. Raises: WorkspaceError."""
        self._need_open()
        words = ["git", "-C", self.path, "--git-dir=/nowhere", "apply", "--binary", "-"]
        done = await asyncio.to_thread(subprocess.run, words, input=patch, capture_output=True, check=False)
        if done.returncode:
            raise WorkspaceError(f"{self.path}: the patch does not fit: {done.stderr.decode()}")

    async def start_file(self, path: str) -> bytes | None:
        """A file's content at the start."""
        entry = self._start.get(os.fsencode(os.path.normpath(path)))
        return None if entry is None else self._contents[entry.oid]

    async def close(self, *, keep: bool) -> None:
        """Remove the directories."""
        self._is_open = False
        if not keep:
            for path in (self._state_dir / "w", self._state_dir / "start", *self._state_dir.glob("copy-*")):
                remove_tree(path)

    def _need_open(self) -> None:
        if not self._is_open:
            raise WorkspaceError(f"{self.source}: the workspace is not open")

    def _read(self, top: Path) -> Entries:
        entries: dict[bytes, Entry] = {}
        for file in sorted(top.rglob("*")):
            if file.is_symlink() or not file.is_file():
                continue
            content = file.read_bytes()
            oid = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
            self._contents[oid] = content
            mode = EXECUTABLE if file.stat().st_mode & stat.S_IXUSR else FILE
            entries[os.fsencode(file.relative_to(top))] = Entry(mode, oid)
        return entries

    def _changed_file(self, path: bytes, current: Entries) -> ChangedFile:
        old, new = self._start.get(path), current.get(path)
        status: FileStatus = "added" if old is None else "deleted" if new is None else "modified"
        before = self._contents[old.oid].count(b"\n") if old else 0
        after = self._contents[new.oid].count(b"\n") if new else 0
        return ChangedFile(os.fsdecode(path), status, after, before)

    def _patch(self, path: bytes, old: Entry | None, new: Entry | None) -> bytes:
        name = os.fsdecode(path)
        lines = [f"diff --git a/{name} b/{name}"]
        if old is None and new is not None:
            lines.append(f"new file mode {new.mode}")
        elif new is None and old is not None:
            lines.append(f"deleted file mode {old.mode}")
        elif old is not None and new is not None and old.mode != new.mode:
            lines += [f"old mode {old.mode}", f"new mode {new.mode}"]
        before, after = (entry.oid if entry else _NO_OBJECT for entry in (old, new))
        if before != after:
            lines += [f"index {before}..{after}", "GIT binary patch"]
            lines += [*_literal(self._contents.get(after, b"")), *_literal(self._contents.get(before, b""))]
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


class FakeCopy:
    """A directory of its own."""

    def __init__(self, path: str) -> None:
        self.path = path

    async def close(self) -> None:
        """Remove it."""
        remove_tree(Path(self.path).parent)


def _literal(content: bytes) -> list[str]:
    packed = zlib.compress(content)
    lines = [f"literal {len(content)}"]
    for start in range(0, len(packed), _LINE_BYTES):
        chunk = packed[start : start + _LINE_BYTES]
        letter = chr(ord("A") + len(chunk) - 1) if len(chunk) <= 26 else chr(ord("a") + len(chunk) - 27)
        lines.append(letter + base64.b85encode(chunk.ljust(-(-len(chunk) // 4) * 4, b"\0")).decode("ascii"))
    return [*lines, ""]
