"""The C library, by which every system call here is made."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from typing import NoReturn

from pi_batch.kernel.syscalls import current, number


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library of this process; failed calls leave their error in `ctypes.get_errno`."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    if sys.platform == "linux":
        library.prctl.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]
    return library


def syscall(name: str, *arguments: object) -> int:
    """Make a system call; pass integers as ctypes values where they are wider than an int.

    Raises: OSError when it fails, and where this architecture's numbers are not known.
    """
    architecture = current()
    known = number(name, architecture) if architecture is not None else None
    if known is None:
        raise OSError(errno.ENOSYS, f"no system call {name!r} here")
    result: int = libc().syscall(ctypes.c_long(known), *arguments)
    if result == -1:
        raise_errno(name)
    return result


def raise_errno(what: str) -> NoReturn:
    """Raise the last call's error as an OSError."""
    code = ctypes.get_errno()
    raise OSError(code, f"{what}: {os.strerror(code)}")
