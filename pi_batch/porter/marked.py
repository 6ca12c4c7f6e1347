"""Processes by the mark that they carry, found from inside: those of a container are not below the runner.

The mark is a process's soft RLIMIT_RTTIME; see `pi_batch.sandboxes.marks`.

Source: proc_pid_limits(5).
"""

# ruff: noqa: PTH123, PTH208 -- pathlib costs 10 ms at start

from __future__ import annotations

import os

_NAME = b"Max realtime timeout"


def signal_marked(mark: int, ignored_bits: int, number: int) -> int:
    """Send a signal to every other process whose mark is this one but for its last bits; how many live.

    Number 0 only counts. Stopped processes are continued, so that they can end in order.
    """
    found = 0
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        value = _limit(name)
        if value is None or value >> ignored_bits != mark >> ignored_bits or _is_zombie(name):
            continue
        found += 1
        for each in (number, 18) if number else ():  # 18: SIGCONT
            try:
                os.kill(int(name), each)
            except OSError:
                break
    return found


def _limit(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            rest = file.read().partition(_NAME)[2]
    except OSError:
        return None
    soft = rest.split(None, 1)[0] if rest else b""
    return int(soft) if soft.isdigit() else None


def _is_zombie(pid: str) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] in b"ZX"
    except OSError:
        return True
