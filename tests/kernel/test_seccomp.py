"""System-call filters, by effect; and the programs, interpreted, for both architectures."""

from __future__ import annotations

import errno
import mmap
import os
import socket
import struct
from pathlib import Path

import pytest

from pi_batch.kernel import process, seccomp
from pi_batch.kernel.calls import syscall
from pi_batch.kernel.seccomp import ALLOW, KILL, PROT_EXEC_SET, Condition, Rule, errno_action
from pi_batch.kernel.syscalls import AARCH64, X86_64, Architecture, number
from tests.kernel.children import errno_of, in_child, needs_seccomp

DENY = errno_action()


def verdict(program: bytes, audit: int, call: int, *arguments: int) -> int:
    """What the kernel would answer: the instructions that filters here are made of, interpreted."""
    data = struct.pack("=IIQ6Q", call, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    lines = list(struct.iter_unpack("=HBBI", program))
    place = accumulator = 0
    while True:
        code, if_true, if_false, value = lines[place]
        place += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, value)
            case 0x54:
                accumulator &= value
            case 0x15:
                place += if_true if accumulator == value else if_false
            case 0x35:
                place += if_true if accumulator >= value else if_false
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"instruction {code:#x}")


def judged(rules: list[Rule], name: str, *arguments: int, architecture: Architecture = X86_64) -> int:
    call = number(name, architecture)
    assert call is not None
    program = seccomp.program(rules, default=DENY, architecture=architecture)
    return verdict(program, architecture.audit, call, *arguments)


@pytest.mark.parametrize("architecture", [X86_64, AARCH64])
def test_listed_calls_are_allowed_and_all_others_denied(architecture: Architecture) -> None:
    rules = [Rule("read", ALLOW), Rule("write", ALLOW)]
    assert judged(rules, "read", architecture=architecture) == ALLOW
    assert judged(rules, "write", architecture=architecture) == ALLOW
    assert judged(rules, "openat", architecture=architecture) == DENY


def test_the_first_rule_that_fits_decides() -> None:
    rules = [Rule("mmap", errno_action(errno.EACCES), (PROT_EXEC_SET,)), Rule("mmap", ALLOW)]
    assert judged(rules, "mmap", 0, 4096, 5) == errno_action(errno.EACCES)
    assert judged(rules, "mmap", 0, 4096, 3) == ALLOW


def test_all_conditions_of_a_rule_must_hold() -> None:
    rules = [
        Rule("socket", ALLOW, (Condition(0, 0xFFFFFFFF, 2), Condition(1, 0xF, 1))),
        Rule("socket", errno_action(97)),
        Rule("read", ALLOW),
    ]
    assert judged(rules, "socket", 2, 1) == ALLOW
    assert judged(rules, "socket", 2, 0x80001) == ALLOW
    assert judged(rules, "socket", 2, 2) == errno_action(97)
    assert judged(rules, "socket", 1, 1) == errno_action(97)
    assert judged(rules, "read", 2, 1) == ALLOW


def test_another_architectures_numbers_never_count() -> None:
    program = seccomp.program([Rule("read", ALLOW)], default=DENY, architecture=X86_64)
    i386 = 0x40000003
    assert verdict(program, i386, 0) == KILL
    assert verdict(program, AARCH64.audit, 63) == KILL
    assert verdict(program, X86_64.audit, 0x40000000) == KILL


def test_what_foreign_calls_get_can_be_chosen() -> None:
    program = seccomp.program([Rule("read", ALLOW)], default=ALLOW, foreign=DENY, architecture=X86_64)
    assert verdict(program, 0x40000003, 5) == DENY
    assert verdict(program, X86_64.audit, 0x40000000 | 59) == DENY


def test_a_call_that_the_architecture_lacks_is_left_out() -> None:
    with_fork = seccomp.program([Rule("fork", DENY), Rule("read", DENY)], default=ALLOW, architecture=AARCH64)
    without = seccomp.program([Rule("read", DENY)], default=ALLOW, architecture=AARCH64)
    assert with_fork == without


def test_a_misspelt_call_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown system call"):
        seccomp.program([Rule("raed", ALLOW)], default=DENY, architecture=X86_64)


def test_a_filter_longer_than_the_kernel_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 4096"):
        seccomp.program([Rule("read", DENY)] * 3000, default=ALLOW, architecture=X86_64)


# --- by effect ------------------------------------------------------------------------------------


def locked(rules: list[Rule], default: int) -> None:
    process.no_new_privs()
    seccomp.install(seccomp.program(rules, default=default))


@needs_seccomp
def test_a_denied_call_fails_and_the_rest_works() -> None:
    def payload() -> list[int]:
        locked([Rule("socket", errno_action(errno.EAFNOSUPPORT))], ALLOW)
        return [errno_of(socket.socket), errno_of(os.stat, "/")]

    assert in_child(payload).value == [errno.EAFNOSUPPORT, 0]


@needs_seccomp
def test_memory_that_runs_can_be_denied_alone() -> None:
    def payload() -> list[int]:
        locked([Rule("mmap", errno_action(errno.EACCES), (PROT_EXEC_SET,))], ALLOW)
        mmap.mmap(-1, 4096).close()
        return [errno_of(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC))]

    assert in_child(payload).value == [errno.EACCES]


@needs_seccomp
def test_a_call_can_end_the_process() -> None:
    def payload() -> None:
        locked([Rule("getppid", KILL)], ALLOW)
        os.getppid()

    assert in_child(payload).signal == "SIGSYS"


@needs_seccomp
def test_a_filter_holds_for_children_and_cannot_be_taken_off() -> None:
    def payload() -> int:
        locked([Rule("getppid", DENY)], ALLOW)
        locked([Rule("getppid", ALLOW)], ALLOW)
        child = os.fork()
        if child == 0:
            os._exit(errno_of(syscall, "getppid"))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert in_child(payload).value == errno.EPERM


@needs_seccomp
@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user first")
def test_without_privileges_and_without_no_new_privs_no_filter_is_taken() -> None:
    def payload() -> int:
        process.drop_to_nobody()
        return errno_of(seccomp.install, seccomp.program([], default=ALLOW))

    assert in_child(payload).value == errno.EACCES


@needs_seccomp
def test_looking_whether_filters_work_installs_none() -> None:
    assert seccomp.is_available()
    assert "Seccomp:\t0" in Path("/proc/self/status").read_text()


def test_a_broken_program_is_an_error_that_says_so() -> None:
    with pytest.raises(OSError, match="cannot install a system-call filter"):
        seccomp.install(b"")
