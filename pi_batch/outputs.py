"""outputs/: what was cut from a tool result, kept whole, masked as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from pi_batch.errors import LogWriteError

OUTPUT_CAP_BYTES = 64 * 1024 * 1024
"""The most that one call keeps; an endless printer must not fill the disk."""


class ByteMask(Protocol):
    """Masks secrets in a stream of bytes, across the borders of its chunks."""

    def feed(self, data: bytes) -> bytes:
        """Take a chunk; give what is safe so far."""
        ...

    def flush(self) -> bytes:
        """Give the rest."""
        ...


class MaskedOutput:
    """One file in outputs/; implements `protocols.OutputFile`."""

    def __init__(self, path: Path, mask: ByteMask, cap_bytes: int = OUTPUT_CAP_BYTES) -> None:
        self.path = str(path)
        self._mask = mask
        self._left = cap_bytes
        self._dropped = 0
        self._file: BinaryIO | None = None

    def write(self, data: bytes) -> None:
        """Append; beyond the cap the rest is counted and dropped. Raises: LogWriteError."""
        kept = data[: self._left] if len(data) > self._left else data
        self._left -= len(kept)
        self._dropped += len(data) - len(kept)
        if kept:
            self._append(self._mask.feed(kept))

    def close(self) -> None:
        """Write what is held back, and how much was dropped. Raises: LogWriteError."""
        self._append(self._mask.flush())
        if self._dropped:
            self._append(f"\n[{self._dropped} more bytes were not kept]\n".encode())
        if self._file is not None:
            with _write_errors(self.path):
                self._file.close()
            self._file = None

    def _append(self, data: bytes) -> None:
        if not data:
            return
        with _write_errors(self.path):
            if self._file is None:
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
                self._file = Path(self.path).open("ab")  # noqa: SIM115 -- lives as long as self
            self._file.write(data)


@contextmanager
def _write_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LogWriteError(f"{path}: cannot be written: {error.strerror or error}") from error
