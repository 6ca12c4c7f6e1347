"""A command's output while it runs and after: bounded in memory, masked and readable on disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

from pi_batch.errors import LogWriteError
from pi_batch.files import write_atomic
from pi_batch.text import readable

HEAD_BYTES = 4 * 1024 * 1024
TAIL_BYTES = 12 * 1024 * 1024
CUT_CHARS = 8 * 1024
"""Dropped on both sides of a cut after masking, so that no half of a secret is left at it."""


class Output:
    """The first and the last bytes of an output; what lies between is counted."""

    def __init__(self, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self.total_bytes = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total_bytes += len(data)
        room = self._head_bytes - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._tail_bytes:
            self._tail_size -= len(self._tail.popleft())

    @property
    def dropped_bytes(self) -> int:
        """How much of the middle is gone."""
        return self.total_bytes - len(self._head) - self._tail_size

    def ends_with(self, text: bytes, within_bytes: int = 64 * 1024) -> bool:
        """True when the text stands somewhere in the last bytes."""
        return text in (bytes(self._head) + b"".join(self._tail))[-within_bytes:]

    def render(self, mask: Callable[[str], str]) -> str:
        """The output as a person may read it; a cut is said where it is."""
        if not self.dropped_bytes:
            return mask(readable(bytes(self._head) + b"".join(self._tail)))
        head = mask(readable(bytes(self._head)))[:-CUT_CHARS]
        tail = mask(readable(b"".join(self._tail)))[CUT_CHARS:]
        return f"{head}\n[about {self.dropped_bytes} bytes of output are not kept]\n{tail}"


def write_log(path: Path, text: str) -> None:
    """Write a log whole. Raises: LogWriteError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogWriteError(f"{path}: cannot be written: {error.strerror or error}") from error
    write_atomic(path, text.encode("utf-8", "replace"))
