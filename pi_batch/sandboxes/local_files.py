"""The file operations of the Sandbox protocol on this machine's own files."""

from __future__ import annotations

import os
import stat
from typing import cast

from pi_batch.porter import files
from pi_batch.porter.files import resolve, write
from pi_batch.protocols import DirEntry, FileKind, FileStat

__all__ = ["list_directory", "read", "read_opened", "resolve", "stat_file", "write"]


def stat_file(path: str) -> FileStat | None:
    """What a path is, links followed; None when nothing is there."""
    found = files.status(path)
    if found is None:
        return None
    kind = cast("FileKind", files.kind_of(found.st_mode))
    return FileStat(kind, found.st_size, stat.S_IMODE(found.st_mode), found.st_mtime_ns)


def list_directory(path: str) -> list[DirEntry]:
    """A directory's entries by name, links not followed."""
    return [
        DirEntry(name, cast("FileKind", kind), target if kind == "link" else None)
        for name, kind, target in files.entries(path)
    ]


def read(path: str, offset: int, limit_bytes: int | None) -> bytes:
    """Bytes of a regular file. Raises: OSError, also for everything that is no regular file."""
    return read_opened(files.opened(path, os.O_RDONLY), offset, limit_bytes)


def read_opened(handle: int, offset: int, limit_bytes: int | None) -> bytes:
    """The same of an open file, which is closed."""
    with open(handle, "rb", buffering=0) as file:
        if offset:
            file.seek(offset)
        return file.readall() if limit_bytes is None else _read_up_to(file.fileno(), limit_bytes)


def _read_up_to(handle: int, limit_bytes: int) -> bytes:
    """So many bytes, or all up to the end."""
    pieces = []
    while limit_bytes > 0 and (piece := os.read(handle, min(limit_bytes, 1 << 20))):
        pieces.append(piece)
        limit_bytes -= len(piece)
    return b"".join(pieces)
