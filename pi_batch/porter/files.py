"""File operations where they are carried out: links, modes and inodes survive, a full disk costs nothing.

Source: path_resolution(7).
"""

# os.path, open and os.replace: pathlib costs 10 ms at start, and names that are no UTF-8 pass as they are.
# contextlib costs 2 ms, hence no suppress().
# ruff: noqa: SIM105, PTH102, PTH105, PTH108, PTH112, PTH115, PTH116, PTH120, PTH123

from __future__ import annotations

import errno
import os
import stat

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
    real = os.path.realpath(checked(path))
    try:
        os.stat(real)  # for its ELOOP: realpath passes over circles in silence
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    return real


def status(path: str) -> os.stat_result | None:
    """What a path is, links followed; None when nothing is there."""
    try:
        return os.stat(checked(path))
    except OSError as error:
        if error.errno in _MISSING:
            return None
        raise


def kind_of(mode: int) -> str:
    """file, directory, link or other."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def entries(path: str) -> list[tuple[str, str, str]]:
    """A directory's names in order, each with its kind and, for a link, where it points."""
    with os.scandir(checked(path)) as found:
        return sorted(map(_entry, found))


def _entry(entry: os.DirEntry[str]) -> tuple[str, str, str]:
    if entry.is_symlink():
        return entry.name, "link", os.readlink(entry.path)
    if entry.is_dir(follow_symlinks=False):
        return entry.name, "directory", ""
    return entry.name, "file" if entry.is_file(follow_symlinks=False) else "other", ""


def opened(path: str, flags: int) -> int:
    """A descriptor of a regular file.

    Nothing else is opened at all: a pipe would block, and some devices act on being opened. The descriptor
    is looked at once more, should the file have been exchanged in between.
    Raises: OSError, also for everything that is no regular file.
    """
    require_regular(os.stat(checked(path)).st_mode, path)
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        require_regular(os.fstat(handle).st_mode, path)
    except OSError:
        os.close(handle)
        raise
    return handle


def require_regular(mode: int, path: str) -> None:
    """Raises: OSError that says what the path is instead."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory", path)
    if not stat.S_ISREG(mode):
        kind = _OTHER_KINDS.get(stat.S_IFMT(mode), "something else")
        raise OSError(errno.EINVAL, f"is {kind}, not a regular file", path)


def write(path: str, content: bytes) -> None:
    """Make the file hold exactly this, in place of the real file behind links; make missing parents.

    A new file appears whole (temporary file, rename). An existing one is rewritten in place, since only
    that keeps its inode, hard links, owner, mode and attributes; space is reserved first and the old content
    put back on failure, so that a full disk costs nothing. A crash or a kill in the middle of that one
    write can leave a mixture.
    """
    real = resolve(path)
    if status(real) is None:
        _create(real, content)
    else:
        _rewrite(real, content)


def _create(real: str, content: bytes) -> None:
    """A new file: the mode and the owner that the system gives to new files in that directory."""
    directory = os.path.dirname(real)
    _make_directories(directory)
    temporary = f"{directory}/.pi-batch-{os.urandom(8).hex()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(handle, "wb", buffering=0) as file:
            _write_all(file.fileno(), content)
        os.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise


def _make_directories(path: str) -> None:
    """A directory and those above it; `os.makedirs` calls itself for each, too often for a very deep one."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for directory in reversed(missing):
        try:
            os.mkdir(directory)
        except FileExistsError:  # made by somebody else just now, or no directory
            if not os.path.isdir(directory):
                raise


def _rewrite(real: str, content: bytes) -> None:
    """New content into the same inode."""
    with open(opened(real, os.O_RDWR), "rb+", buffering=0) as file:
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


def checked(path: str) -> str:
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
