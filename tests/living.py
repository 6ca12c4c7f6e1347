"""Processes that a test's commands leave, told apart from every other test's."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

from pi_batch.sandboxes.processes import snapshot

NAP = f"1{os.getpid()}"
"""Seconds to sleep, before the point, that no test in another process sleeps."""
_NUMBERS = itertools.count(1)


def a_nap() -> str:
    """Seconds to sleep that no other test sleeps, in this process or another."""
    return f"{NAP}.{next(_NUMBERS)}"


def living(beginning: str) -> list[int]:
    """Pids of processes, not zombies, whose command line begins so."""
    found = []
    for process in snapshot().values():
        try:
            command = Path(f"/proc/{process.pid}/cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            continue
        if command.startswith(beginning.encode()) and not process.is_zombie:
            found.append(process.pid)
    return found


async def until(condition: Callable[[], object], *, limit_s: float = 10) -> None:
    """Wait for what other processes make true."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.01)
