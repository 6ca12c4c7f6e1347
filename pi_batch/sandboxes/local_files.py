"""The file operations of the Sandbox protocol on this machine's own files."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from pi_batch.protocols import DirEntry, FileKind, FileStat

UNDO_BYTES = 64 * 1024 * 1024
"""Up to this size the old content is kept in memory until the new one is written."""

_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_OTHER_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def resolve(path: str) -> str:
    """The real path: the deepest existing ancestor resolved, the rest appended.

    Links come before `..`, as the system itself walks. What is missing is fine.
    Raises: OSError when links go in a circle, or for what is no absolute path.
    """
    real = os.path.realpath(_checked(path))
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        os.stat(real)  # noqa: PTH116 -- for its ELOOP: realpath passes over circles in silence
    return real


def stat_file(path: str) -> FileStat | None:
    """What a path is, links followed; None when nothing is there."""
    try:
        found = os.stat(_checked(path))  # noqa: PTH116 -- takes names that are not UTF-8 as they are
    except OSError as error:
        if error.errno in _MISSING:
            return None
        raise
    return FileStat(_kind(found.st_mode), found.st_size, stat.S_IMODE(found.st_mode), found.st_mtime_ns)


def list_directory(path: str) -> list[DirEntry]:
    """A directory's entries by name, links not followed."""
    with os.scandir(_checked(path)) as entries:
        return sorted((_entry(entry) for entry in entries), key=lambda entry: entry.name)


def read(path: str, offset: int, limit_bytes: int | None) -> bytes:
    """Bytes of a regular file. Raises: OSError, also for everything that is no regular file."""
    with open(_opened(path, os.O_RDONLY), "rb", buffering=0) as file:
        if offset:
            file.seek(offset)
        return file.readall() if limit_bytes is None else _read_up_to(file.fileno(), limit_bytes)


def write(path: str, content: bytes) -> None:
    """Make the file hold exactly this, in place of the real file behind links; make missing parents.

    A new file appears whole (temporary file, rename). An existing one is rewritten in place, since only
    that keeps its inode, hard links, owner, mode and attributes; space is reserved first and the old content
    put back on failure, so that a full disk costs nothing. A crash or a kill in the middle of that one
    write can leave a mixture.
    """
    real = resolve(path)
    if stat_file(real) is None:
        _create(real, content)
    else:
        _rewrite(real, content)


def _create(real: str, content: bytes) -> None:
    """A new file: the mode and the owner that the system gives to new files in that directory."""
    directory = os.path.dirname(real)  # noqa: PTH120
    os.makedirs(directory, exist_ok=True)  # noqa: PTH103
    temporary = f"{directory}/.pi-batch-{secrets.token_hex(8)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(handle, "wb", buffering=0) as file:  # noqa: PTH123
            _write_all(file.fileno(), content)
        os.replace(temporary, real)  # noqa: PTH105
    except BaseException:
        Path(temporary).unlink()
        raise


def _rewrite(real: str, content: bytes) -> None:
    """New content into the same inode."""
    with open(_opened(real, os.O_RDWR), "rb+", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        old = file.readall() if size <= UNDO_BYTES else None
        try:
            _reserve(file.fileno(), size, len(content))
            _write_all(file.fileno(), content)
            file.truncate(len(content))
        except OSError:
            if old is not None:
                _write_all(file.fileno(), old)
                file.truncate(len(old))
            raise


def _reserve(handle: int, size: int, wanted: int) -> None:
    """Make a file at least so long. Raises: OSError when there is no space, with the file as it was."""
    if wanted <= size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(handle, size, wanted - size)
    except OSError as error:
        os.ftruncate(handle, size)
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise


def _write_all(handle: int, content: bytes) -> None:
    """The whole content from the file's start."""
    rest = memoryview(content)
    os.lseek(handle, 0, os.SEEK_SET)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _read_up_to(handle: int, limit_bytes: int) -> bytes:
    """So many bytes, or all up to the end."""
    pieces = []
    while limit_bytes > 0 and (piece := os.read(handle, min(limit_bytes, 1 << 20))):
        pieces.append(piece)
        limit_bytes -= len(piece)
    return b"".join(pieces)


def _opened(path: str, flags: int) -> int:
    """A descriptor of a regular file.

    Nothing else is opened at all: a pipe would block, and some devices act on being opened. The descriptor
    is looked at once more, should the file have been exchanged in between.
    """
    _require_regular(os.stat(_checked(path)).st_mode, path)  # noqa: PTH116
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _require_regular(os.fstat(handle).st_mode, path)
    except OSError:
        os.close(handle)
        raise
    return handle


def _require_regular(mode: int, path: str) -> None:
    """Raises: OSError that says what the path is instead."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory", path)
    if not stat.S_ISREG(mode):
        kind = _OTHER_KINDS.get(stat.S_IFMT(mode), "something else")
        raise OSError(errno.EINVAL, f"is {kind}, not a regular file", path)


def _checked(path: str) -> str:
    """The path. Raises: OSError for one that no file can have."""
    if not path.startswith("/"):
        raise OSError(errno.EINVAL, "is not an absolute path", path)
    try:
        is_possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        raise OSError(errno.EINVAL, "holds a character that no path can have", path)
    return path


def _kind(mode: int) -> FileKind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def _entry(entry: os.DirEntry[str]) -> DirEntry:
    """One name; a link with where it points."""
    if entry.is_symlink():
        return DirEntry(entry.name, "link", os.readlink(entry.path))  # noqa: PTH115
    if entry.is_dir(follow_symlinks=False):
        return DirEntry(entry.name, "directory")
    return DirEntry(entry.name, "file" if entry.is_file(follow_symlinks=False) else "other")
