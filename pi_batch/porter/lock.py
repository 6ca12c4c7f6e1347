"""What a porter gives up for itself and all that it starts, where no other program built walls around it.

The rules are made outside: a Landlock rule set comes as an open file, a filter as its instructions.

Source: landlock_restrict_self(2), seccomp(2), capset(2), prctl(2).
"""

from __future__ import annotations

import ctypes
import os
import struct

_DROP_BOUNDING = 24
_SET_NO_NEW_PRIVS = 38
_SET_SECCOMP = 22
_MODE_FILTER = 2
_MAX_CAPABILITIES = 64
_CAPABILITY_VERSION = 0x20080522
_LANDLOCK_RESTRICT_SELF = 446  # the same on every architecture
_INSTRUCTION_BYTES = 8


def lock(ruleset: int | None, filter_program: bytes) -> None:
    """Give up privileges, then what the rule set and the filter forbid. Raises: OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]
    for capability in range(_MAX_CAPABILITIES):
        if libc.prctl(_DROP_BOUNDING, capability, 0, 0, 0) != 0:
            break  # past the last one, or not ours to drop
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _need(libc.capset(header, bytes(24)), "capset")
    _need(libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if ruleset is not None:
        call = ctypes.c_long(_LANDLOCK_RESTRICT_SELF)
        _need(libc.syscall(call, ctypes.c_int(ruleset), ctypes.c_uint(0)), "landlock_restrict_self")
    code = ctypes.create_string_buffer(filter_program, len(filter_program))
    count = len(filter_program) // _INSTRUCTION_BYTES
    program = struct.pack("@HP", count, ctypes.addressof(code))
    _need(libc.prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.create_string_buffer(program), 0, 0), "seccomp")


def _need(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
