"""The machine's processes: a snapshot of who descends from whom, from /proc or by psutil."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct


class Process(Struct, frozen=True):
    """One process at one moment."""

    pid: int
    parent: int
    group: int
    session: int
    started: float
    """On the system's own scale; with the pid it names a process for good."""
    is_zombie: bool
    """True when it has ended and only waits to be reaped."""


@functools.cache
def has_proc() -> bool:
    """True where /proc shows processes as Linux does."""
    return Path("/proc/self/stat").exists()


def snapshot() -> dict[int, Process]:
    """Every process that can be seen, by pid."""
    return _from_proc() if has_proc() else _from_psutil()


def children(pid: int) -> list[int]:
    """Direct children, those of every thread, where the kernel lists them; none elsewhere."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_bytes().split())
    return found


def with_descendants(roots: Iterable[int], table: Mapping[int, Process]) -> set[int]:
    """These processes and everything below them."""
    children: dict[int, list[int]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, [])
    return found


def _from_proc() -> dict[int, Process]:
    """Read every /proc/PID/stat; processes that end meanwhile are left out."""
    table = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 -- half the time of Path.iterdir, and this is a hot path
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                process = _parse_stat(file.read())
                table[process.pid] = process
    return table


def _parse_stat(stat: bytes) -> Process:
    """One line of /proc/PID/stat; the name in brackets may hold anything, brackets included.

    A leading thread that has ended while others run looks like a zombie and is none.
    Source: proc_pid_stat(5), fields 1, 3 to 6, 20 and 22.
    """
    pid, _, _ = stat.partition(b" ")
    fields = stat[stat.rindex(b")") + 2 :].split()
    return Process(
        pid=int(pid),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        started=float(fields[19]),
        is_zombie=fields[0] in b"ZX" and int(fields[17]) <= 1,
    )


def _from_psutil() -> dict[int, Process]:
    """The same where there is no /proc."""
    import psutil

    table = {}
    for entry in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError), entry.oneshot():
            table[entry.pid] = Process(
                pid=entry.pid,
                parent=entry.ppid(),
                group=os.getpgid(entry.pid),
                session=os.getsid(entry.pid),
                started=entry.create_time(),
                is_zombie=entry.status() == psutil.STATUS_ZOMBIE,
            )
    return table
