r"""git's object store as files: blobs are written here, whole stores are linked or copied.

Written in Python because the bytes of a file must become a blob exactly as they are. Every git command
that takes a file in (add, hash-object by path) applies attributes, filters or links on the way, and opens
the path a second time, after it was looked at.

Source: gitrepository-layout(5) "objects"; a loose object is zlib("<type> <size>\0" + content).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.boundary import Checkpoint

_PACK_SUFFIXES = (".pack", ".idx", ".rev", ".promisor")
"""The rest beside a pack (bitmaps, keeps, multi-pack indexes) only serves speed or other tools."""
_CHUNK_BYTES = 1 << 20
_MAX_ALTERNATES = 64
_PASSES = 5


class ChangedWhileRead(Exception):
    """A file was not the same size at its end as at its start."""


Put = Callable[[Path, Path], None]
"""Puts the file of the first path at the second."""


class ObjectStore(Struct, frozen=True):
    """The objects directory of a repository of ours."""

    path: Path
    algorithm: str
    """sha1 or sha256."""

    def identify(self, content: bytes, kind: str = "blob") -> str:
        """The id that git gives to an object of this content."""
        return self._digest(kind, len(content), (content,))

    def identify_stream(self, size_bytes: int, chunks: Iterable[bytes]) -> str:
        """The same, for content that does not fit into memory."""
        return self._digest("blob", size_bytes, chunks)

    def add(self, content: bytes, kind: str = "blob") -> str:
        """Store an object and give its id."""
        return self.add_stream(len(content), (content,), kind)

    def add_stream(self, size_bytes: int, chunks: Iterable[bytes], kind: str = "blob") -> str:
        """Store an object chunk by chunk and give its id.

        Raises: ChangedWhileRead when the chunks are not of that size; nothing is stored then.
        """
        handle, temporary = tempfile.mkstemp(prefix="tmp_obj_", dir=self.path)
        try:
            with os.fdopen(handle, "wb") as file:
                name = self._write(file, _header(kind, size_bytes), _sized(chunks, size_bytes))
                os.fchmod(file.fileno(), 0o444)
            target = self.path / name[:2] / name[2:]
            try:
                Path(temporary).replace(target)
            except FileNotFoundError:  # the first object whose id begins so
                target.parent.mkdir(exist_ok=True)
                Path(temporary).replace(target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()
            raise
        return name

    def _write(self, file: BinaryIO, header: bytes, chunks: Iterable[bytes]) -> str:
        digest = hashlib.new(self.algorithm, header, usedforsecurity=False)
        packer = zlib.compressobj(1)
        file.write(packer.compress(header))
        for chunk in chunks:
            digest.update(chunk)
            file.write(packer.compress(chunk))
        file.write(packer.flush())
        return digest.hexdigest()

    def _digest(self, kind: str, size_bytes: int, chunks: Iterable[bytes]) -> str:
        digest = hashlib.new(self.algorithm, _header(kind, size_bytes), usedforsecurity=False)
        for chunk in chunks:
            digest.update(chunk)
        return digest.hexdigest()


def _header(kind: str, size_bytes: int) -> bytes:
    return b"%s %d\0" % (kind.encode("ascii"), size_bytes)


def _sized(chunks: Iterable[bytes], size_bytes: int) -> Iterator[bytes]:
    for chunk in chunks:
        size_bytes -= len(chunk)
        yield chunk
    if size_bytes:
        raise ChangedWhileRead


def chunks_of(descriptor: int) -> Iterator[bytes]:
    """Read an open file from its start, piece by piece."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        yield chunk


def object_directories(objects: Path) -> tuple[Path, ...]:
    """A store's directory and, recursively, those that it borrows from (`info/alternates`)."""
    found: dict[Path, None] = {}
    waiting = [objects]
    while waiting and len(found) < _MAX_ALTERNATES:
        directory = Path(os.path.realpath(waiting.pop(0)))
        if directory in found or not directory.is_dir():
            continue
        found[directory] = None
        waiting += [directory / line for line in _alternates(directory)]
    return tuple(found)


def _alternates(objects: Path) -> list[str]:
    try:
        content = (objects / "info" / "alternates").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return []
    lines = [os.fsdecode(line) for line in content.split(b"\n")]
    return [line for line in lines if line and not line.startswith("#")]


def gather_objects(directories: Iterable[Path], target: Path, put: Put, checkpoint: Checkpoint) -> None:
    """Bring all objects of some stores into one, file by file.

    A `git gc` of the owner may move objects at the same time. Loose ones are listed before packs, as gc
    writes the pack before it removes them; a file that is gone when its turn comes starts a new pass.

    Raises: WorkspaceError when they never come to rest; OSError.
    """
    for directory in directories:
        for _ in range(_PASSES):
            if _gather_once(directory, target, put, checkpoint):
                break
        else:
            raise WorkspaceError(f"{directory}: its objects keep moving; is a `git gc` running?")


def _gather_once(objects: Path, target: Path, put: Put, checkpoint: Checkpoint) -> bool:
    whole = True
    for source in _object_files(objects):
        checkpoint()
        destination = target / source.relative_to(objects)
        destination.parent.mkdir(exist_ok=True)
        try:
            put(source, destination)
        except FileExistsError:
            continue
        except FileNotFoundError:  # moved, unless it is a link to nothing
            whole = whole and source.is_symlink()
    return whole


def _object_files(objects: Path) -> Iterator[Path]:
    for entry in sorted(objects.iterdir()):
        if len(entry.name) == 2 and entry.is_dir():
            with contextlib.suppress(FileNotFoundError):
                yield from (file for file in entry.iterdir() if len(file.name) in {38, 62})
    packs = objects / "pack"
    if packs.is_dir():
        yield from (file for file in packs.iterdir() if file.suffix in _PACK_SUFFIXES)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file's content and permission bits to a new file; the disk shares blocks where it can.

    Raises: FileExistsError when the target is there.
    """
    with source.open("rb") as reading, target.open("xb") as writing:
        _copy_content(reading.fileno(), writing.fileno())
        os.fchmod(writing.fileno(), os.fstat(reading.fileno()).st_mode & 0o777)


def _copy_content(reading: int, writing: int) -> None:
    if hasattr(os, "copy_file_range"):
        with contextlib.suppress(OSError):  # other disk, or one that cannot: byte by byte below
            while os.copy_file_range(reading, writing, 1 << 30):
                pass
    # What is left: all of it, or nothing. Both positions are where the fast way stopped.
    while chunk := os.read(reading, _CHUNK_BYTES):
        remaining = memoryview(chunk)
        while remaining:
            remaining = remaining[os.write(writing, remaining) :]


def link_or_copy(source: Path, target: Path) -> None:
    """Hard-link a file that nobody writes to; copy it where the disk or the system refuses.

    Only between the user's store and ours: both are out of the agent's reach, and git never changes an
    object file. What the agent can reach gets copies, as writing through a link would change the other.
    """
    try:
        if source.is_symlink():  # a link to the link would lead nowhere
            copy_file(source, target)
        else:
            os.link(source, target)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:
        copy_file(source, target)
