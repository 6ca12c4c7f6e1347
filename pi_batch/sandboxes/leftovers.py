"""Commands of a runner that was killed: they go on without it until somebody ends them."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from pi_batch.sandboxes import marks, processes

WAIT_S = 2.0
"""How long killed processes may take to go."""
LOOK_S = 0.01


def end_leftovers(runner: int) -> int:
    """KILL every process that carries a runner's mark, and what is below it; how many there were.

    Marks are random numbers of 30 bits, so that no other program's process is ever taken for one.
    """
    if runner == marks.runner_id():
        return 0
    ended: set[int] = set()
    until_s = time.monotonic() + WAIT_S
    while living := _living(runner):
        for pid in living:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended |= living
        if time.monotonic() > until_s:
            break
        time.sleep(LOOK_S)
    return len(ended)


def _living(runner: int) -> set[int]:
    table = processes.snapshot()
    marked = [pid for pid in table if pid != os.getpid() and _runner_of(pid) == runner]
    return {pid for pid in processes.with_descendants(marked, table) if not table[pid].is_zombie}


def _runner_of(pid: int) -> int | None:
    mark = marks.read(pid)
    return None if mark is None else mark.runner
