"""Reads the files of a directory into git entries, exactly as they are on disk.

The directory may belong to an agent whose processes still run. Every component of every path is opened
by itself and never through a link, so that swapping a directory for a link at the right moment cannot
make this program, which sits outside the sandbox, read a file that the agent may not read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct, field

from pi_batch.workspaces.boundary import Checkpoint
from pi_batch.workspaces.objects import ChangedWhileRead, ObjectStore, chunks_of

FILE = "100644"
EXECUTABLE = "100755"
LINK = "120000"
SUBMODULE = "160000"

_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_STREAMED_BYTES = 8 << 20
_POINTER = b"version https://git-lfs.github.com/spec/"
_POINTER_MAX_BYTES = 1024

_EMPTY_BLOBS = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
"""An index names these for files that are only intended to be added; they may be in no store."""


class Entry(Struct, frozen=True):
    """What a tree says of one path."""

    mode: str
    """100644, 100755, 120000 (link); 160000 (submodule) only in trees that others made."""
    oid: str


Entries = Mapping[bytes, Entry]
"""A whole tree, flat: paths from its root, with slashes, as bytes."""


class Reading(Struct, frozen=True):
    """What was found."""

    entries: dict[bytes, Entry] = field(default_factory=dict)
    skipped: dict[bytes, str] = field(default_factory=dict)
    """Files that are there and could not be taken: why."""
    pointers: list[bytes] = field(default_factory=list)
    """Files that stand for a large one (Git LFS)."""
    added: set[str] = field(default_factory=set)
    """Ids of the objects that were stored: equal files are one."""


class Reader(Struct, frozen=True):
    """How files are read."""

    store: ObjectStore
    stored: Entries
    """Entries by path whose objects the store has: nothing is written for those."""
    trusts_exec_bit: bool = True
    """False where the disk calls every file executable: the mode is the one in `stored`."""
    max_new_bytes: int | None = None
    """A larger file that is not in `stored` is skipped; None: any size is taken."""

    def read(self, root: Path, names: Collection[bytes], checkpoint: Checkpoint) -> Reading:
        """Read the named files under a directory; what is not there, or no file or link, is left out."""
        reading = Reading()
        try:
            top = os.open(root, _DIRECTORY_FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return reading
        except OSError:
            if root.is_symlink():  # the agent replaced its directory: nothing of it is left
                return reading
            raise
        try:
            for directory, members in _by_directory(names):
                checkpoint()
                self._read_directory(top, directory, members, reading)
        finally:
            os.close(top)
        return reading

    def _read_directory(self, top: int, directory: bytes, members: list[bytes], reading: Reading) -> None:
        prefix = directory + b"/" if directory else b""
        try:
            descriptor = _open_directory(top, directory)
        except PermissionError as error:
            reading.skipped.update({prefix + name: str(error.strerror) for name in members})
            return
        except OSError as error:
            if error.errno not in _GONE:
                raise
            return
        try:
            for name in members:
                self._read_one(descriptor, name, prefix + name, reading)
        finally:
            os.close(descriptor)

    def _read_one(self, directory: int, name: bytes, path: bytes, reading: Reading) -> None:
        try:
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode) and name.lower() == b".gitmodules":
                reading.skipped[path] = "git takes no link of this name"
            elif stat.S_ISLNK(status.st_mode):
                target = os.readlink(name, dir_fd=directory)
                reading.entries[path] = Entry(LINK, self._store_bytes(path, target, reading))
            elif stat.S_ISREG(status.st_mode):
                self._read_file(directory, name, path, reading)
        except PermissionError as error:
            reading.skipped[path] = str(error.strerror)
        except OSError as error:
            if error.errno not in _GONE:
                raise

    def _read_file(self, directory: int, name: bytes, path: bytes, reading: Reading) -> None:
        descriptor = os.open(name, _FILE_FLAGS, dir_fd=directory)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return
            mode = self._mode(path, status.st_mode)
            if status.st_size > _STREAMED_BYTES:
                stored = self._store_stream(path, descriptor, status.st_size, reading)
                if stored is None:
                    return
                oid = stored
            else:
                content = b"".join(chunks_of(descriptor))
                if len(content) <= _POINTER_MAX_BYTES and content.startswith(_POINTER):
                    reading.pointers.append(path)
                oid = self._store_bytes(path, content, reading)
        finally:
            os.close(descriptor)
        reading.entries[path] = Entry(mode, oid)

    def _mode(self, path: bytes, bits: int) -> str:
        if self.trusts_exec_bit:
            return EXECUTABLE if bits & stat.S_IXUSR else FILE
        known = self.stored.get(path)
        return known.mode if known is not None and known.mode in {FILE, EXECUTABLE} else FILE

    def _store_bytes(self, path: bytes, content: bytes, reading: Reading) -> str:
        oid = self.store.identify(content)
        if not (oid in reading.added or self._is_stored(path, oid)):
            reading.added.add(self.store.add(content))
        return oid

    def _store_stream(self, path: bytes, descriptor: int, size_bytes: int, reading: Reading) -> str | None:
        oid = self.store.identify_stream(size_bytes, chunks_of(descriptor))
        if self._is_stored(path, oid):
            return oid
        if self.max_new_bytes is not None and size_bytes > self.max_new_bytes:
            reading.skipped[path] = f"{size_bytes >> 20} MB, more than {self.max_new_bytes >> 20} MB"
            return None
        try:
            return self.store.add_stream(size_bytes, chunks_of(descriptor))
        except ChangedWhileRead:
            reading.skipped[path] = "it is being written to"
            return None

    def _is_stored(self, path: bytes, oid: str) -> bool:
        known = self.stored.get(path)
        return known is not None and known.oid == oid and oid not in _EMPTY_BLOBS


def _by_directory(names: Collection[bytes]) -> list[tuple[bytes, list[bytes]]]:
    groups: dict[bytes, list[bytes]] = {}
    for path in names:
        directory, _, name = path.rpartition(b"/")
        groups.setdefault(directory, []).append(name)
    return sorted(groups.items())


def _open_directory(top: int, directory: bytes) -> int:
    descriptor = os.dup(top)
    for part in directory.split(b"/") if directory else ():
        try:
            inner = os.open(part, _DIRECTORY_FLAGS, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EINVAL})
"""Not there, or no longer what it was: a link or a file where a directory was, a socket for a file."""
