"""One process at a time in a run directory, and what is known of the one before."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import LogWriteError, UsageError
from pi_batch.sandboxes.marks import runner_id

LOCK = ".lock"


class Holder(Struct, frozen=True):
    """The process that holds a run directory, or held it last."""

    pid: int = 0
    runner: int | None = None
    """What its commands are marked with; None when it is not known."""


@contextmanager
def held(run_dir: Path) -> Iterator[Holder]:
    """Hold a run directory; gives who held it before.

    Raises: UsageError, one line, while another process holds it; LogWriteError.
    """
    path = run_dir / LOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise LogWriteError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        before = _read(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}:
                raise UsageError(
                    f"{run_dir}: in use, locked by process {before.pid}: wait for it to end"
                ) from error
        note = json.dumps({"pid": os.getpid(), "runner": runner_id()}).encode()
        os.ftruncate(handle, 0)
        os.pwrite(handle, note, 0)
        yield before
    finally:
        os.close(handle)


def is_held(run_dir: Path) -> bool:
    """True while a process works in a run directory."""
    try:
        handle = os.open(run_dir / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _read(path: Path) -> Holder:
    try:
        value = json.loads(path.read_bytes() or b"{}")
        return Holder(int(value.get("pid", 0)), value.get("runner"))
    except (OSError, ValueError, AttributeError, TypeError):
        return Holder()
