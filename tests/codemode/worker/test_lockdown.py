"""The lock-down: its filter call by call, for both architectures, and what a locked process is."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path

import pytest

from pi_batch.codemode.values import MAX_MEMORY_BYTES
from pi_batch.codemode.worker import lockdown
from pi_batch.kernel import landlock
from pi_batch.kernel.seccomp import ALLOW, KILL, errno_action
from pi_batch.kernel.syscalls import AARCH64, X86_64, Architecture, number, numbers
from tests.codemode.worker.rigs import needs_isolation
from tests.kernel.children import errno_of, in_child
from tests.kernel.test_seccomp import verdict

EACH = pytest.mark.parametrize("architecture", [X86_64, AARCH64], ids=["x86-64", "aarch64"])
SMALL = 50


@EACH
def test_only_what_is_listed_is_allowed(architecture: Architecture) -> None:
    program = lockdown.filter_program(architecture)
    allowed = {
        name
        for name, call in numbers(architecture).items()
        if verdict(program, architecture.audit, call) == ALLOW
    }
    assert allowed == {name for name in lockdown.ALLOWED_CALLS if number(name, architecture) is not None}
    assert 30 <= len(allowed) <= SMALL


@EACH
def test_all_else_fails_as_not_permitted(architecture: Architecture) -> None:
    program = lockdown.filter_program(architecture)
    for name in (
        "openat",
        "socket",
        "execve",
        "clone",
        "ptrace",
        "prctl",
        "kill",
        "ioctl",
        "sendmsg",
        "seccomp",
    ):
        call = number(name, architecture)
        assert call is not None
        assert verdict(program, architecture.audit, call) == errno_action(errno.EPERM)
    for unknown in (470, 999, 0x3FFFFFFF):
        assert verdict(program, architecture.audit, unknown) == errno_action(errno.EPERM)


@EACH
@pytest.mark.parametrize("name", ["mmap", "mprotect"])
def test_no_memory_can_be_made_to_run(architecture: Architecture, name: str) -> None:
    program = lockdown.filter_program(architecture)
    call = number(name, architecture)
    assert call is not None
    for protection in range(16):
        expected = errno_action(errno.EACCES) if protection & 4 else ALLOW
        assert verdict(program, architecture.audit, call, 0, 4096, protection) == expected


@EACH
def test_another_conventions_calls_end_the_process(architecture: Architecture) -> None:
    program = lockdown.filter_program(architecture)
    assert verdict(program, 0x40000003, 1) == KILL
    assert verdict(program, 0x40000028, 1) == KILL


@needs_isolation
def test_every_layer_that_this_system_has_is_on_and_named() -> None:
    def payload() -> list[object]:
        layers = lockdown.lock(parent=None)
        return [*layers, errno_of(os.open, "/", os.O_RDONLY)]

    *layers, denied = in_child(payload).value
    expected = ["process", "not_dumpable", "limits"]
    expected += ["nobody"] if os.geteuid() == 0 else []
    expected += ["no_new_privs", *(["landlock"] if landlock.abi() else []), "seccomp"]
    assert layers == expected
    assert denied == errno.EPERM


@needs_isolation
def test_a_process_whose_parent_is_gone_already_does_not_go_on() -> None:
    assert in_child(lambda: lockdown.lock(parent=1 << 22)).value is None


@needs_isolation
def test_memory_is_limited_beyond_what_there_is() -> None:
    def payload() -> int:
        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
        lockdown.lock(parent=None, layers=("limits",))
        return resource.getrlimit(resource.RLIMIT_AS)[0] - pages * resource.getpagesize()

    assert abs(in_child(payload).value - MAX_MEMORY_BYTES) < 16 * 1024 * 1024
