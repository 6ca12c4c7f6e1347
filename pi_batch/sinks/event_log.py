"""events.jsonl: the stream as it is kept."""

from __future__ import annotations

from pathlib import Path

from pi_batch.event_log import header_line, is_live_only, record_to_json
from pi_batch.events import BatchEnd, Record, TaskEnd
from pi_batch.jsonl import decode_line, encode_line
from pi_batch.redact import Masker
from pi_batch.sinks.line_file import LineFile


class EventLog:
    """Writes each record as one line at once; ends of tasks and of the run are synced to disk.

    An existing log is continued; a torn last line is set aside in `<file>.torn`, and `warnings` says so.
    """

    takes_live_only = False

    def __init__(self, path: Path, *, mask: Masker | None = None) -> None:
        """Open, and write the header of a new log. Raises: LogWriteError."""
        self._mask = None if mask is None or mask.is_empty else mask
        self._file = LineFile(path)
        self.warnings: tuple[str, ...] = ()
        content = self._file.read()
        tail = content[content.rfind(b"\n") + 1 :]
        if tail and decode_line(tail) is not None:
            self._file.end_last_line()
        elif tail:
            beside = self._file.set_aside(tail, len(content) - len(tail))
            self.warnings = (f"{path}: torn last line ({len(tail)} bytes) set aside in {beside.name}",)
        if self._file.size_bytes == 0:
            self._file.append(header_line(), is_synced=False)

    def handle(self, record: Record) -> None:
        """Append one record; live-only ones are passed over. Raises: LogWriteError."""
        if is_live_only(record.event):
            return
        value = record_to_json(record, live=False)
        if self._mask is not None:
            value = self._mask.mask_json(value)
        is_end = isinstance(record.event, TaskEnd | BatchEnd)
        self._file.append(encode_line(value), is_synced=is_end)

    def close(self) -> None:
        """Sync and release the file; a second call does nothing. Raises: LogWriteError."""
        self._file.sync()
        self._file.close()
