"""System-call filters: rules in, a BPF program out, and its installation. No library but the C one.

    rules = [Rule("socket", errno_action(EAFNOSUPPORT)), Rule("mmap", errno_action(EACCES), (PROT_EXEC_SET,))]
    no_new_privs()
    install(program(rules, default=ALLOW))

Source: seccomp(2), linux/seccomp.h, linux/filter.h, linux/bpf_common.h.
"""

from __future__ import annotations

import ctypes
import errno
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from pi_batch.kernel.calls import libc, raise_errno
from pi_batch.kernel.syscalls import X86_64, Architecture, current, number

ALLOW = 0x7FFF0000
KILL = 0x80000000
"""Ends the whole process, as if by SIGSYS."""


def errno_action(code: int = errno.EPERM) -> int:
    """Makes the call fail with this error and do nothing else."""
    return 0x00050000 | code


@dataclass(frozen=True, slots=True)
class Condition:
    """Holds when `argument & mask == value`; the lower 32 bits of an argument are looked at.

    Flags, families, commands and protections are 32 bits wide or have no bits above, so that this is enough
    for them; it is not for addresses and sizes.
    """

    argument: int
    """From 0 to 5."""
    mask: int
    value: int


PROT_EXEC_SET = Condition(2, 4, 4)
"""For mmap and mprotect: memory that may be executed."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What becomes of a system call; without conditions always, else when all of them hold."""

    name: str
    action: int
    when: tuple[Condition, ...] = ()


_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000
_INSTRUCTION = struct.Struct("=HBBI")
MAX_INSTRUCTIONS = 4096


def program(
    rules: Sequence[Rule],
    *,
    default: int,
    foreign: int = KILL,
    architecture: Architecture | None = None,
) -> bytes:
    """The filter: the first rule that fits decides, `default` where none does.

    A call that the architecture does not have is left out. `foreign` is for calls made by another
    architecture's convention (32-bit, x32), whose numbers mean something else.

    Raises: ValueError for an unknown name, OSError where this machine's architecture is not supported.
    """
    architecture = architecture or current()
    if architecture is None:
        raise OSError(errno.ENOSYS, "no system-call filter for this architecture")
    lines = [
        _op(_LOAD, _ARCHITECTURE_AT),
        _op(_JUMP_EQUAL, architecture.audit, 1, 0),
        _op(_RETURN, foreign),
        _op(_LOAD, _NUMBER_AT),
    ]
    if architecture == X86_64:
        lines += [_op(_JUMP_AT_LEAST, _X32_BIT, 0, 1), _op(_RETURN, foreign)]
    for rule in rules:
        known = number(rule.name, architecture)
        if known is not None:
            lines += _rule(rule, known)
    lines.append(_op(_RETURN, default))
    if len(lines) > MAX_INSTRUCTIONS:
        raise ValueError(f"a filter of {len(lines)} instructions, more than {MAX_INSTRUCTIONS}")
    return b"".join(lines)


def install(filter_program: bytes) -> None:
    """Put this thread, and all that it starts from now on, under the filter, for good.

    Without privileges it needs `process.no_new_privs` first.

    Raises: OSError where the kernel has no seccomp filters or does not let this process set one.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "system-call filters are Linux's")
    code = ctypes.create_string_buffer(filter_program, len(filter_program))
    header = _Program(len(filter_program) // _INSTRUCTION.size, ctypes.addressof(code))
    set_seccomp, mode_filter = 22, 2
    if libc().prctl(set_seccomp, mode_filter, ctypes.byref(header), 0, 0) != 0:
        raise_errno("cannot install a system-call filter")


def is_available() -> bool:
    """Whether filters can be installed here; installs nothing."""
    if sys.platform != "linux" or current() is None:
        return False
    set_seccomp, mode_filter = 22, 2
    # With no program at all the kernel that could take one fails with EFAULT, any other with EINVAL.
    libc().prctl(set_seccomp, mode_filter, 0, 0, 0)
    return ctypes.get_errno() == errno.EFAULT


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return _INSTRUCTION.pack(code, if_true, if_false, value)


def _rule(rule: Rule, call: int) -> list[bytes]:
    """Instructions of one rule; they begin and end with the call's number loaded."""
    if not rule.when:
        return [_op(_JUMP_EQUAL, call, 0, 1), _op(_RETURN, rule.action)]
    tests: list[bytes] = []
    for place, condition in enumerate(reversed(rule.when)):
        after = 3 * place + 1  # instructions from this test's end to the one that loads the number again
        tests[:0] = [
            _op(_LOAD, _ARGUMENTS_AT + 8 * condition.argument),
            _op(_AND, condition.mask),
            _op(_JUMP_EQUAL, condition.value, 0, after),
        ]
    body = [*tests, _op(_RETURN, rule.action)]
    return [_op(_JUMP_EQUAL, call, 0, len(body) + 1), *body, _op(_LOAD, _NUMBER_AT)]
