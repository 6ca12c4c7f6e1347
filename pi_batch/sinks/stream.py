"""`--events`: the live stream as JSON Lines on standard output."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import BinaryIO

from pi_batch.encoders import json_safe
from pi_batch.errors import LogWriteError
from pi_batch.event_log import record_to_json
from pi_batch.events import Record
from pi_batch.jsonl import encode_line
from pi_batch.redact import Masker


class EventStream:
    """Writes each record in its live form, flushed line by line.

    A reader that goes away (`| head`) ends the stream quietly and not the run; any other failure to write
    is a LogWriteError. The file itself stays open: it belongs to the caller.
    """

    takes_live_only = True

    def __init__(self, file: BinaryIO, *, mask: Masker | None = None) -> None:
        self._file = file
        self._mask = None if mask is None or mask.is_empty else mask
        self.is_closed = False
        """True once the reader has gone."""

    def handle(self, record: Record) -> None:
        """Write one record. Raises: LogWriteError."""
        if self.is_closed:
            return
        value = record_to_json(record, live=True)
        if self._mask is not None:
            value = self._mask.mask_json(value)
        # A CI runner obeys `##[command]` anywhere in a line; the escaped form is the same JSON.
        line = json_safe(encode_line(value))
        self._write(line.encode("utf-8") + b"\n")

    def close(self) -> None:
        """Flush; a second call does nothing. Raises: LogWriteError."""
        if not self.is_closed:
            self._write(b"")
        self.is_closed = True

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.is_closed = True
            _discard_rest(self._file)
        except (OSError, ValueError) as error:
            self.is_closed = True
            reason = getattr(error, "strerror", None) or error
            raise LogWriteError(f"standard output: cannot be written: {reason}") from error


def _discard_rest(file: BinaryIO) -> None:
    """Point the descriptor at /dev/null, so that what is still buffered raises nothing at exit."""
    with suppress(OSError, ValueError):
        handle = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.dup2(handle, file.fileno())
        finally:
            os.close(handle)
