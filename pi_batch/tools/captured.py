"""A command's output while it comes in: its end in memory, the whole in a file once it is too much."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from pi_batch.protocols import OutputFile
from pi_batch.text import Truncated, readable, truncate_tail
from pi_batch.tools.wording import count_of, size_of

HELD_BYTES = 1024 * 1024
"""What is kept in memory, and at most given to a script."""


SHOWN_BYTES = 64 * 1024
"""What a progress display is given to take a line from."""


class Captured(Struct, frozen=True):
    """The output of a command that has ended."""

    text: str
    """Readable; its end where it was more than HELD_BYTES."""
    shown: Truncated
    """What a model gets of it."""
    total_bytes: int
    """As printed."""
    total_lines: int
    is_cut: bool
    """True when `text` is not the whole output."""
    full_output_path: str | None
    """Where the whole is, as it was printed, when the model does not get all of it."""

    @property
    def note(self) -> str:
        """What was cut and where it is; empty when nothing was."""
        if self.full_output_path is None:
            return ""
        shown_bytes = size_of(len(self.shown.text.encode()))
        if self.shown.is_line_cut:
            kept = f"only the end of the last of {count_of(self.total_lines, 'line')}"
        else:
            kept = f"only the last {self.shown.kept_lines} of {count_of(self.total_lines, 'line')}"
        return (
            f"[output truncated: {kept} shown, {shown_bytes} of {size_of(self.total_bytes)}; "
            f"full output: {self.full_output_path}]"
        )


class Capture:
    """Takes output chunk by chunk; memory stays bounded however much comes."""

    def __init__(self, open_output: Callable[[], OutputFile]) -> None:
        self._open_output = open_output
        self._file: OutputFile | None = None
        self._tail = bytearray()
        """At least the last HELD_BYTES, at most twice as much."""
        self._total_bytes = 0
        self._newlines = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next chunk. Raises: LogWriteError."""
        self._total_bytes += len(chunk)
        self._newlines += chunk.count(b"\n")
        self._tail += chunk
        if self._file is not None:
            self._file.write(chunk)
        elif self._total_bytes > HELD_BYTES:
            self._spill()
        if len(self._tail) > 2 * HELD_BYTES:
            del self._tail[:-HELD_BYTES]

    def finish(self) -> Captured:
        """The end of it, readable; the whole is written down if a model would not see all of it.

        Raises: LogWriteError.
        """
        is_cut = self._total_bytes > HELD_BYTES
        held = bytes(self._tail[-HELD_BYTES:])
        text = readable(_from_a_line(held) if is_cut else held)
        shown = truncate_tail(text)
        if shown.is_truncated and self._file is None:
            self._spill()
        if self._file is not None:
            self._file.close()
        ends_open = bool(held) and not held.endswith(b"\n")
        return Captured(
            text=text,
            shown=shown,
            total_bytes=self._total_bytes,
            total_lines=self._newlines + ends_open,
            is_cut=is_cut,
            full_output_path=None if self._file is None else self._file.path,
        )

    def so_far(self) -> str:
        """The end of what came so far, for a progress display; long enough to know secrets in it whole."""
        return readable(bytes(self._tail[-SHOWN_BYTES:]))

    def _spill(self) -> None:
        """Begin the file with what came so far, all of which is still held."""
        self._file = self._open_output()
        self._file.write(bytes(self._tail))


def _from_a_line(tail: bytes) -> bytes:
    """A tail without the rest of the line, or at least of the character, that it starts in."""
    newline = tail.find(b"\n", 0, len(tail) // 2)
    if newline >= 0:
        return tail[newline + 1 :]
    start = 0
    while start < min(3, len(tail)) and tail[start] & 0xC0 == 0x80:
        start += 1
    return tail[start:]
