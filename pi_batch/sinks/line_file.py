"""A file of lines that only grows: each line whole or not there at all."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from pi_batch.errors import LogWriteError


class LineFile:
    """An open file to which whole lines are appended, one system call a line.

    A line that could not be written whole (a full disk) is cut off again, so that what follows stays
    readable; where even that fails, nothing more is written.
    """

    def __init__(self, path: Path) -> None:
        """Open for appending, make it and its directories where they are missing. Raises: LogWriteError."""
        self.path = path
        self._is_broken = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            status = os.fstat(self._handle)
        except OSError as error:
            raise self._error(error) from error
        self.is_regular = stat.S_ISREG(status.st_mode)
        self.size_bytes = status.st_size if self.is_regular else 0

    @property
    def handle(self) -> int:
        """The file descriptor, for locks."""
        return self._handle

    def read(self) -> bytes:
        """Everything in it; nothing of what is no regular file. Raises: LogWriteError."""
        if not self.is_regular:
            return b""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise self._error(error) from error

    def append(self, line: str, *, is_synced: bool) -> None:
        """Write one line and its LF; `is_synced`: also to the disk. Raises: LogWriteError."""
        if self._is_broken:
            raise LogWriteError(f"{self.path}: cannot be written: an earlier line is cut in the middle")
        data = line.encode("utf-8", "replace") + b"\n"
        try:
            self._write_all(data)
            if is_synced and self.is_regular:
                os.fsync(self._handle)
        except OSError as error:
            self._cut_back()
            raise self._error(error) from error
        self.size_bytes += len(data)

    def set_aside(self, tail: bytes, whole_bytes: int) -> Path:
        """Move a torn last line to `<file>.torn`, first there, then off here. Raises: LogWriteError."""
        beside = self.path.with_name(self.path.name + ".torn")
        try:
            with beside.open("ab") as file:
                file.write(tail + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.ftruncate(self._handle, whole_bytes)
            os.fsync(self._handle)
        except OSError as error:
            raise self._error(error) from error
        self.size_bytes = whole_bytes
        return beside

    def end_last_line(self) -> None:
        """Add the LF that the last line lacks. Raises: LogWriteError."""
        self.append("", is_synced=False)

    def sync(self) -> None:
        """Have everything on the disk. Raises: LogWriteError."""
        if self.is_regular and self._handle >= 0:
            try:
                os.fsync(self._handle)
            except OSError as error:
                raise self._error(error) from error

    def close(self) -> None:
        """Release the file; a second call does nothing. Raises: LogWriteError."""
        if self._handle < 0:
            return
        handle, self._handle = self._handle, -1
        try:
            os.close(handle)
        except OSError as error:
            raise self._error(error) from error

    def _write_all(self, data: bytes) -> None:
        written = os.write(self._handle, data)
        while written < len(data):
            written += os.write(self._handle, data[written:])

    def _cut_back(self) -> None:
        if not self.is_regular:
            return
        try:
            os.ftruncate(self._handle, self.size_bytes)
        except OSError:
            self._is_broken = True

    def _error(self, error: OSError) -> LogWriteError:
        return LogWriteError(f"{self.path}: cannot be written: {error.strerror or error}")


def remove_quietly(path: Path) -> None:
    """Remove a file that may be gone already."""
    with contextlib.suppress(OSError):
        path.unlink()
