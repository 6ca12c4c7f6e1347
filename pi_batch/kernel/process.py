"""What a process can give up of itself: privileges, core dumps and being looked into, resources, its user.

`drop_to_nobody` and `limit_resources` are for every POSIX system, the rest is Linux's alone.

Source: prctl(2), capabilities(7), setresuid(2), getrlimit(2).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pi_batch.kernel.calls import libc, raise_errno

_SET_PARENT_DEATH_SIGNAL = 1
_GET_DUMPABLE = 3
_SET_DUMPABLE = 4
_DROP_BOUNDING = 24
_SET_NO_NEW_PRIVS = 38
_GET_NO_NEW_PRIVS = 39
_MAX_CAPABILITIES = 64

NOBODY = 65534
"""The user and group that own nothing. Source: the kernel's overflowuid, the same on every distribution."""


def no_new_privs() -> None:
    """From now on no program that this process runs gains privileges (setuid, file capabilities).

    Raises: OSError.
    """
    _prctl(_SET_NO_NEW_PRIVS, 1, "no_new_privs")


def has_no_new_privs() -> bool:
    """Whether `no_new_privs` was called here or in an ancestor."""
    return bool(libc().prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)


def set_dumpable(*, is_dumpable: bool) -> None:
    """Not dumpable: no other process of this user may trace it, read its memory or open its /proc files.

    A program run by exec is dumpable again. Raises: OSError.
    """
    _prctl(_SET_DUMPABLE, int(is_dumpable), "dumpable")


def is_dumpable() -> bool:
    """Whether others of this user may look into this process."""
    return bool(libc().prctl(_GET_DUMPABLE, 0, 0, 0, 0) == 1)


def die_with_parent(signum: int) -> None:
    """Have the kernel send this signal when the parent's thread ends.

    A change of user or a set-uid program clears it. When the parent may have ended already, compare
    `os.getppid()` afterwards. Raises: OSError.
    """
    _prctl(_SET_PARENT_DEATH_SIGNAL, signum, "parent death signal")


def drop_bounding_set() -> bool:
    """Give up every capability that a program run later could gain; False where it takes privileges."""
    for capability in range(_MAX_CAPABILITIES):
        if libc().prctl(_DROP_BOUNDING, capability, 0, 0, 0) != 0:
            return capability > 0  # the first number past the last capability is EINVAL
    return True


def drop_to_nobody() -> bool:
    """Become a user that owns nothing, with no groups and no capabilities, where this process is root.

    Returns False, with nothing changed, where it is not. Raises: OSError when root may not (a user namespace
    without that user).
    """
    if os.geteuid() != 0:
        return False
    os.setgroups([])
    if sys.platform == "linux":
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    else:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    return True


def limit_resources(limits: Mapping[int, int | tuple[int, int]]) -> None:
    """Lower resource limits: one finite value for soft and hard, or the two; a lower hard limit stays.

    Raises: OSError, ValueError.
    """
    import resource

    for name, value in limits.items():
        _, ceiling = resource.getrlimit(name)
        most = ceiling if ceiling != resource.RLIM_INFINITY else sys.maxsize
        soft, hard = value if isinstance(value, tuple) else (value, value)
        resource.setrlimit(name, (min(soft, most), min(hard, most)))


def _prctl(option: int, value: int, what: str) -> None:
    if libc().prctl(option, value, 0, 0, 0) != 0:
        raise_errno(what)
