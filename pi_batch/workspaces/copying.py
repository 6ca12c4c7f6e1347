"""Copies a directory tree as it is: links as links, permission bits and times kept, no file shared."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct, field

from pi_batch.workspaces.boundary import Checkpoint
from pi_batch.workspaces.links import portable_target
from pi_batch.workspaces.objects import copy_file


class Copied(Struct, frozen=True):
    """What was copied and what was not; paths are relative, as bytes."""

    files: list[bytes] = field(default_factory=list)
    """Links included."""
    empty_directories: list[bytes] = field(default_factory=list)
    special: list[bytes] = field(default_factory=list)
    """Sockets, FIFOs, devices: not copied."""
    unreadable: list[bytes] = field(default_factory=list)
    repositories: list[bytes] = field(default_factory=list)
    """Every `.git`: not copied, as one may be the user's in disguise (a linked work tree, a submodule)."""
    relinked: list[bytes] = field(default_factory=list)
    """Absolute links into the tree, made relative."""
    environments: list[bytes] = field(default_factory=list)
    """Virtual environments: their scripts name the place that they were made in."""


class TreeCopy(Struct, frozen=True):
    """One copy to be made."""

    source: Path
    target: Path
    skipped: Collection[bytes]
    """Directories, from the top, that are not copied."""
    skipped_names: Collection[bytes]
    """Names of directories that are copied nowhere."""
    link_roots: tuple[bytes, ...]
    """Absolute spellings of the source."""

    def make(self, checkpoint: Checkpoint) -> Copied:
        """Copy. Raises: OSError."""
        copied = Copied()
        self.target.mkdir(parents=True)
        finished: list[bytes] = []
        waiting = [b""]
        while waiting:
            checkpoint()
            directory = waiting.pop()
            finished.append(directory)
            waiting += self._copy_directory(directory, copied)
        for directory in reversed(finished):  # modes last: a read-only directory takes no files
            self._finish_directory(directory)
        return copied

    def _copy_directory(self, directory: bytes, copied: Copied) -> list[bytes]:
        inner: list[bytes] = []
        try:
            with os.scandir(self._at(self.source, directory)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except PermissionError:
            copied.unreadable.append(directory)
            return inner
        except (FileNotFoundError, NotADirectoryError):  # gone since it was listed
            return inner
        prefix = directory + b"/" if directory else b""
        is_empty = True
        for entry in entries:
            path = prefix + entry.name
            if entry.name == b".git":
                copied.repositories.append(path)
            elif entry.is_dir(follow_symlinks=False):
                if path not in self.skipped and entry.name not in self.skipped_names:
                    Path(os.fsdecode(self._at(self.target, path))).mkdir()
                    inner.append(path)
                    is_empty = False
            else:
                is_empty = not self._copy_entry(entry, path, copied) and is_empty
        if is_empty and directory:
            copied.empty_directories.append(directory)
        return inner

    def _copy_entry(self, entry: os.DirEntry[bytes], path: bytes, copied: Copied) -> bool:
        target = self._at(self.target, path)
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                self._copy_link(entry, path, copied)
            elif stat.S_ISREG(mode):
                copy_file(Path(os.fsdecode(entry.path)), Path(os.fsdecode(target)))
                self._keep_times(entry.path, target)
            else:
                copied.special.append(path)
                return False
        except PermissionError:
            copied.unreadable.append(path)
            return False
        except FileNotFoundError:  # gone since it was listed
            return False
        if entry.name == b"pyvenv.cfg":
            copied.environments.append(path.rpartition(b"/")[0])
        copied.files.append(path)
        return True

    def _copy_link(self, entry: os.DirEntry[bytes], path: bytes, copied: Copied) -> None:
        link = os.readlink(entry.path)  # noqa: PTH115 bytes
        portable = portable_target(path, link, self.link_roots)
        if portable != link:
            copied.relinked.append(path)
        os.symlink(portable, self._at(self.target, path))  # noqa: PTH211 bytes

    def _finish_directory(self, directory: bytes) -> None:
        source, target = self._at(self.source, directory), self._at(self.target, directory)
        try:
            mode = stat.S_IMODE(os.stat(source).st_mode) & 0o777  # noqa: PTH116 bytes
        except FileNotFoundError:
            return
        os.chmod(target, mode | 0o700)  # noqa: PTH101 bytes; the agent must be able to work in it
        self._keep_times(source, target)

    @staticmethod
    def _keep_times(source: bytes, target: bytes) -> None:
        with contextlib.suppress(FileNotFoundError):  # gone since it was copied
            status = os.stat(source)  # noqa: PTH116 bytes
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))

    @staticmethod
    def _at(top: Path, path: bytes) -> bytes:
        return os.path.join(os.fsencode(top), path) if path else os.fsencode(top)  # noqa: PTH118 bytes
