"""Locks a worker before any byte of a script is parsed.

The layers, in this order, and what each is for:

- process: its own program in a session of its own, no environment, no descriptor but one socket;
- not_dumpable: no other process of this user can trace it or read its memory, nor it theirs by /proc;
- limits: CPU, memory, files and processes, should nobody be left to end it;
- nobody: where the runner is root, a user who owns nothing;
- no_new_privs: no set-uid program makes it more than it is;
- landlock: no file, no TCP, no signal and no abstract socket to the outside, where the kernel has it;
- seccomp: 37 system calls and no other. It carries the weight: it needs no privilege, no package and no
  set-up, and stops by itself whatever the others stop. Refused calls fail with EPERM instead of killing, so
  that a late import in a library is a Python error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from pi_batch.codemode.values import MAX_CPU_S, MAX_MEMORY_BYTES
from pi_batch.kernel import landlock, process, seccomp
from pi_batch.kernel.syscalls import Architecture

ALLOWED_CALLS = (
    # talk: the one socket
    "read", "write", "readv", "writev", "close", "fstat", "lseek",
    # memory
    "mmap", "munmap", "mremap", "mprotect", "brk", "madvise",
    # wait
    "poll", "ppoll", "select", "pselect6", "futex", "nanosleep", "clock_nanosleep", "restart_syscall",
    "sched_yield",
    # clocks and chance
    "clock_gettime", "clock_getres", "gettimeofday", "time", "times", "getrusage", "getrandom",
    # signals to itself, from the interpreter
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
    # who am I, and the end
    "getpid", "gettid", "exit", "exit_group",
)  # fmt: skip
"""All 37 on x86-64, 34 on aarch64, which lacks three of the old ones."""

STACK_BYTES = 8 * 1024 * 1024
MAX_OPEN_FILES = 16
CPU_S = (MAX_CPU_S, MAX_CPU_S + 1)
"""SIGXCPU at the first can be ignored, SIGKILL at the second cannot."""


def filter_program(architecture: Architecture | None = None) -> bytes:
    """The system-call filter, for this machine unless said.

    Raises: OSError where its architecture has none.
    """
    runs = [
        seccomp.Rule(name, seccomp.errno_action(errno.EACCES), (seccomp.PROT_EXEC_SET,))
        for name in ("mmap", "mprotect")
    ]
    allowed = [seccomp.Rule(name, seccomp.ALLOW) for name in ALLOWED_CALLS]
    return seccomp.program([*runs, *allowed], default=seccomp.errno_action(), architecture=architecture)


def lock(*, parent: int | None, layers: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Put every layer on that this system has; returns those that are on, by name.

    `parent` is the process whose end must be this one's end. `layers` names some of them, for tests that show
    what each is worth.
    """
    steps: dict[str, Callable[[], bool]] = {
        "not_dumpable": _not_dumpable,
        "limits": _limits,
        "nobody": _nobody,
        "no_new_privs": _no_new_privs,
        "landlock": _landlock,
        "seccomp": _seccomp,
    }
    os.chdir("/")
    on = ["process"]
    for name, step in steps.items():
        if name == "no_new_privs":  # a change of user would have taken this off again
            _end_with(parent)
        if (layers is None or name in layers) and step():
            on.append(name)
    return tuple(on)


def _end_with(parent: int | None) -> None:
    if parent is None or sys.platform != "linux":
        return
    process.die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)  # it ended before that call


def _not_dumpable() -> bool:
    if sys.platform != "linux":
        return False
    process.set_dumpable(is_dumpable=False)
    return True


def _limits() -> bool:
    limits: dict[int, int | tuple[int, int]] = {
        resource.RLIMIT_CPU: CPU_S,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_STACK: STACK_BYTES,
    }
    if sys.platform == "linux":  # macOS takes no limit of the address space
        limits[resource.RLIMIT_AS] = _address_space_bytes() + MAX_MEMORY_BYTES
        limits[resource.RLIMIT_MSGQUEUE] = 0
    process.limit_resources(limits)
    return True


def _address_space_bytes() -> int:
    """What this process has of it now; a guess that is large enough where /proc does not tell."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    return 256 * 1024 * 1024


def _nobody() -> bool:
    """Root in a container that took the right to change users from it goes on without."""
    with contextlib.suppress(OSError):
        process.drop_bounding_set()
        return process.drop_to_nobody()
    return False


def _no_new_privs() -> bool:
    if sys.platform != "linux":
        return False
    process.no_new_privs()
    return True


def _landlock() -> bool:
    try:
        landlock.restrict()
    except OSError:
        return False
    return True


def _seccomp() -> bool:
    try:
        seccomp.install(filter_program())
    except OSError:
        return False
    return True
