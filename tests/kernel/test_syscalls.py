"""System-call numbers: spot checks by hand, and every call of this machine's headers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_batch.kernel.syscalls import AARCH64, X86_64, Architecture, current, number, numbers

HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


@pytest.mark.parametrize(
    ("name", "x86_64", "aarch64"),
    [
        ("read", 0, 63),
        ("mmap", 9, 222),
        ("socket", 41, 198),
        ("execve", 59, 221),
        ("ptrace", 101, 117),
        ("openat", 257, 56),
        ("seccomp", 317, 277),
        ("io_uring_setup", 425, 425),
        ("landlock_restrict_self", 446, 446),
        ("file_setattr", 469, 469),
    ],
)
def test_a_call_has_the_number_of_its_architecture(name: str, x86_64: int, aarch64: int) -> None:
    assert (number(name, X86_64), number(name, AARCH64)) == (x86_64, aarch64)


def test_a_call_that_only_one_architecture_has_is_none_on_the_other() -> None:
    assert number("fork", X86_64) == 57
    assert number("fork", AARCH64) is None


def test_a_misspelt_call_is_an_error_and_no_rule_less() -> None:
    with pytest.raises(ValueError, match="unknown system call 'opne'"):
        number("opne", X86_64)


@pytest.mark.parametrize("architecture", [X86_64, AARCH64])
def test_no_two_calls_share_a_number(architecture: Architecture) -> None:
    table = numbers(architecture)
    assert len(set(table.values())) == len(table) > 300


@pytest.mark.skipif(not HEADER.exists(), reason="no kernel headers here")
def test_the_table_agrees_with_this_machines_headers() -> None:
    found = dict(re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text()))
    known = numbers(X86_64)
    assert {
        name: int(value) for name, value in found.items() if known.get(name, int(value)) != int(value)
    } == {}
    assert not {name for name, value in found.items() if int(value) <= 469} - known.keys()


def test_this_machine_is_known_or_none() -> None:
    assert current() in (X86_64, AARCH64, None)
