"""Marks that say which task and call a process comes from, however it was started.

A process that forked twice, called setsid and cleared its environment has lost its parent, its session
and its variables. Two marks are put on every command, and both are inherited:

- the soft limit RLIMIT_RTTIME (CPU time of real-time processes, in practice never set), at a value that no
  process could ever use up. It survives fork, exec, setsid, double forks and `env -i`;
- the variables PI_BATCH_TASK and PI_BATCH_CALL, for kernels that let no limit be set.

Source: getrlimit(2), proc_pid_limits(5).
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from pi_batch.sandboxes.processes import has_proc

TASK_VARIABLE = "PI_BATCH_TASK"
CALL_VARIABLE = "PI_BATCH_CALL"

MAX_NUMBER = 0xFFFF
"""Of tasks and calls; a counter starts again at 1 beyond it."""

CALL_BITS = 16
"""The last bits of a mark say which call."""
_MARKED = 1 << 62
_RUNNER_MASK = 0x3FFF_FFFF


def runner_id() -> int:
    """A number of this process's own; a runner inside a task, around it or forked off has another one."""
    return _runner_id_of(os.getpid())


@functools.cache
def _runner_id_of(_pid: int) -> int:
    return secrets.randbits(_RUNNER_MASK.bit_length())


class Mark(Struct, frozen=True):
    """Where a process comes from."""

    runner: int
    task: int
    """From 1 to MAX_NUMBER."""
    call: int
    """From 1 to MAX_NUMBER; 0 stands for the task as a whole."""

    def covers(self, other: Mark) -> bool:
        """True when `other` is this call, or a call of this task."""
        return (self.runner, self.task) == (other.runner, other.task) and self.call in (0, other.call)

    @property
    def variables(self) -> dict[str, str]:
        """What a command's environment gets."""
        task = f"{self.runner:x}.{self.task}"
        return {TASK_VARIABLE: task, CALL_VARIABLE: f"{task}.{self.call}"}

    @property
    def limit(self) -> int:
        """As a value of RLIMIT_RTTIME: microseconds, over a hundred thousand years."""
        return _MARKED | self.runner << 32 | self.task << 16 | self.call


@contextlib.contextmanager
def inherited(mark: Mark) -> Iterator[None]:
    """Within, whatever this process starts is marked from its first moment: it is this process's own limit.

    To mark a child after its start would be too late for what it has forked by then. A limit that cannot be
    set (an old kernel, a lower hard limit) leaves the variables.
    """
    import resource

    limit = getattr(resource, "RLIMIT_RTTIME", None)
    if limit is None:
        yield
        return
    own, hard = resource.getrlimit(limit)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(limit, (mark.limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(limit, (own, hard))


def take_off(pid: int) -> None:
    """Give a child this process's own limit again."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_RTTIME, resource.getrlimit(resource.RLIMIT_RTTIME))


def read(pid: int) -> Mark | None:
    """A process's mark; None where it has none, or only the one that this process has itself."""
    return read_limit(pid) or _from_variables(_variables_of(pid))


def read_limit(pid: int) -> Mark | None:
    """The same by the limit alone, which a process cannot lose by chance."""
    value = _limit_of(str(pid))
    if value is None or not value & _MARKED or value == _limit_of("self"):
        return None
    return Mark(value >> 32 & _RUNNER_MASK, value >> 16 & MAX_NUMBER, value & MAX_NUMBER)


def _limit_of(pid: str) -> int | None:
    """The soft RLIMIT_RTTIME of a process, where /proc tells it; zombies keep theirs."""
    try:
        limits = Path(f"/proc/{pid}/limits").read_bytes()
    except OSError:
        return None
    _, _, rest = limits.partition(b"Max realtime timeout")
    soft = rest.split(None, 1)[0] if rest else b""
    return int(soft) if soft.isdigit() else None


def _variables_of(pid: int) -> str | None:
    """The value of PI_BATCH_CALL that a process was started with."""
    if not has_proc():
        return _variables_by_psutil(pid)
    prefix = f"{CALL_VARIABLE}=".encode()
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    for entry in environ.split(b"\0"):
        if entry.startswith(prefix):
            return entry.removeprefix(prefix).decode("utf-8", "replace")
    return None


def _variables_by_psutil(pid: int) -> str | None:
    """The same on systems without /proc."""
    import psutil

    try:
        return psutil.Process(pid).environ().get(CALL_VARIABLE)
    except (psutil.Error, OSError):
        return None


def _from_variables(value: str | None) -> Mark | None:
    """A mark out of PI_BATCH_CALL; None for what was never written here."""
    try:
        runner, task, call = (value or "").split(".")
        return Mark(int(runner, 16), int(task), int(call))
    except ValueError:
        return None
