"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from pi_batch.errors import LogWriteError


def write_atomic(path: Path, content: bytes, *, is_synced: bool = True) -> None:
    """Replace a file by a temporary one beside it, synced to disk first unless it is soon replaced again.

    Readers see the old content or the new, never a part; what is not synced, a machine that loses its
    power may lose. The directory must exist.
    Raises: LogWriteError with the path and the system's reason.
    """
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise LogWriteError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if is_synced:
                file.flush()
                os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        raise LogWriteError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
