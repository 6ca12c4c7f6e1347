"""The end of a log in a run directory, for reports that show why a check did not pass."""

from __future__ import annotations

import stat
from pathlib import Path

from pi_batch.reports.rows import ReadLog
from pi_batch.text import readable

TAIL_MAX_BYTES = 64 * 1024


def log_reader(run_dir: Path, max_bytes: int = TAIL_MAX_BYTES) -> ReadLog:
    """A function that gives a log's last `max_bytes` as readable text.

    A log that is not there, is no regular file or lies outside `run_dir` reads as empty: a log's name
    comes from the event log, which may have been made elsewhere.
    """
    root = run_dir.resolve()

    def read(name: str) -> str:
        try:
            path = (root / name).resolve()
            if not path.is_relative_to(root) or not stat.S_ISREG(path.stat().st_mode):
                return ""
            return readable(_tail(path, max_bytes))
        except (OSError, ValueError):
            return ""

    return read


def no_logs(name: str) -> str:
    """A reader where no run directory is at hand."""
    return ""


def _tail(path: Path, max_bytes: int) -> bytes:
    """The last bytes, from the start of a line where one begins among them."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - max_bytes, 0))
        content = file.read(max_bytes)
    if size <= max_bytes:
        return content
    _partial, newline, whole = content.partition(b"\n")
    note = f"(the log has {size} bytes; its end:) …\n".encode()
    return note + (whole if newline and whole.strip() else content)
