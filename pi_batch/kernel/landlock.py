"""Landlock: a process gives up files, TCP, and reaching out to processes, with no privilege needed.

Source: landlock(7), linux/landlock.h, Documentation/userspace-api/landlock.rst (what each ABI added).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable

from pi_batch.kernel.calls import syscall

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

READ = EXECUTE | READ_FILE | READ_DIR
"""Look at it and run it."""
WRITE = (
    WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER
    | TRUNCATE | IOCTL_DEV
)  # fmt: skip
"""Change it and all below it; no device nodes."""
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""What a rule about a single file may give."""

_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_SCOPE_ABSTRACT_UNIX, _SCOPE_SIGNAL = 1 << 0, 1 << 1
_PATH_BENEATH = 1
_VERSION = 1


def abi() -> int:
    """The kernel's Landlock version; 0 where there is none or it is switched off."""
    if sys.platform != "linux":
        return 0
    try:
        return syscall("landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION))
    except OSError:
        return 0


def restrict(
    *,
    read: Iterable[str | os.PathLike[str]] = (),
    write: Iterable[str | os.PathLike[str]] = (),
    blocks_tcp: bool = True,
    is_scoped: bool = True,
) -> int:
    """Give up every file but those named, for this thread and all that it starts; returns the ABI used.

    `read` may be read and run, `write` also changed; each holds for all below it. `blocks_tcp` (ABI 4) ends
    binding and connecting, `is_scoped` (ABI 6) signals and abstract sockets to the outside. What the ABI at
    hand does not know is not restricted: stat, UDP and other families never are. Needs
    `process.no_new_privs` first, or privileges.

    Raises: OSError where there is no Landlock, and for a path that cannot be opened.
    """
    ruleset = make_ruleset(read=read, write=write, blocks_tcp=blocks_tcp, is_scoped=is_scoped)
    try:
        syscall("landlock_restrict_self", ctypes.c_int(ruleset), ctypes.c_uint(0))
    finally:
        os.close(ruleset)
    return abi()


def make_ruleset(
    *,
    read: Iterable[str | os.PathLike[str]] = (),
    write: Iterable[str | os.PathLike[str]] = (),
    blocks_tcp: bool = True,
    is_scoped: bool = True,
) -> int:
    """The same as rules that another process can be given: an open file, the caller's to close.

    Raises: OSError where there is no Landlock, and for a path that cannot be opened.
    """
    version = abi()
    handled = _handled(version)
    attributes = struct.pack(
        "=QQQ",
        handled,
        _BIND_TCP | _CONNECT_TCP if blocks_tcp and version >= 4 else 0,
        _SCOPE_ABSTRACT_UNIX | _SCOPE_SIGNAL if is_scoped and version >= 6 else 0,
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = syscall("landlock_create_ruleset", attributes, ctypes.c_size_t(size), ctypes.c_uint(0))
    try:
        for path in read:
            _allow(ruleset, path, READ & handled)
        for path in write:
            _allow(ruleset, path, (READ | WRITE) & handled)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def _handled(version: int) -> int:
    """All file rights that an ABI knows: what is handled and not given by a rule is refused."""
    rights = READ | WRITE | MAKE_CHAR | MAKE_BLOCK
    for right, since in ((REFER, 2), (TRUNCATE, 3), (IOCTL_DEV, 5)):
        if version < since:
            rights &= ~right
    return rights


def _allow(ruleset: int, path: str | os.PathLike[str], rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, descriptor)
        syscall(
            "landlock_add_rule", ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint(0)
        )
    finally:
        os.close(descriptor)
