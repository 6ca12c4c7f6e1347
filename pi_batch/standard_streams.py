"""Standard output for results, standard error for people: each may be closed, full, or left alone."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from pi_batch.errors import LogWriteError


def say(text: str) -> None:
    """Write results, at once. A reader that has left (`| head`) is no error.

    Raises: LogWriteError where it cannot be written.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_rest(sys.stdout)
    except OSError as error:
        _discard_rest(sys.stdout)
        raise LogWriteError(f"standard output: cannot be written: {error.strerror or error}") from error


def tell(line: str) -> None:
    """Write a line for a person; where nobody can read it, nothing happens."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:
        _discard_rest(sys.stderr)


def finish() -> None:
    """Send off what is still buffered, so that the interpreter finds nothing to fail on at its end.

    Raises: LogWriteError where results cannot be written.
    """
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except OSError:
            _discard_rest(sys.stderr)
    say("")


def _discard_rest(stream: TextIO) -> None:
    """Point the descriptor at /dev/null, so that what is still buffered does no harm at exit."""
    handle = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.dup2(handle, stream.fileno())
    finally:
        os.close(handle)
