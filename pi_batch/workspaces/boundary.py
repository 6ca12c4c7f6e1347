"""The room's two borders: blocking file work to a thread, the system's errors to WorkspaceError."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from pi_batch.errors import WorkspaceError

T = TypeVar("T")

Checkpoint = Callable[[], None]
"""Called now and then by long file work; raises `Interrupted` once nobody waits for the work."""


class Interrupted(Exception):
    """File work was given up because its caller was cancelled."""


async def in_thread(work: Callable[[Checkpoint], T]) -> T:
    """Run blocking file work in a thread and give its result.

    When the caller is cancelled the work is told, and waited for: nothing is still being written by
    the time that the caller cleans up.
    """
    stop = threading.Event()

    def checkpoint() -> None:
        if stop.is_set():
            raise Interrupted

    running = asyncio.ensure_future(asyncio.to_thread(work, checkpoint))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        running.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait([running])
        raise


@contextlib.contextmanager
def workspace_errors(where: str) -> Iterator[None]:
    """Turn the system's errors into WorkspaceError: which path, and what the system said."""
    try:
        yield
    except OSError as error:
        named = error.filename if error.filename is not None else where
        path = os.fsdecode(named) if isinstance(named, (str, bytes)) else where
        raise WorkspaceError(f"{path!r}: {error.strerror or error}") from error


def never() -> None:
    """A checkpoint for work that is not to be given up."""
