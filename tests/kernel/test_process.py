"""What a process gives up, by effect."""

from __future__ import annotations

import errno
import os
import resource
import signal
import time
from pathlib import Path

from pi_batch.kernel import process
from tests.kernel.children import as_root, errno_of, in_child, linux_only


def status(field: str) -> str:
    for line in Path("/proc/self/status").read_text().split("\n"):
        name, _, value = line.partition(":")
        if name == field:
            return value.strip()
    raise AssertionError(field)


@linux_only
def test_no_new_privs_stays_on() -> None:
    def payload() -> list[object]:
        before = process.has_no_new_privs()
        process.no_new_privs()
        return [before, process.has_no_new_privs(), status("NoNewPrivs")]

    assert in_child(payload).value[1:] == [True, "1"]


@linux_only
def test_a_process_that_is_not_dumpable_shows_its_files_to_root_alone() -> None:
    def payload() -> list[object]:
        process.set_dumpable(is_dumpable=False)
        return [process.is_dumpable(), Path("/proc/self/environ").stat().st_uid]

    assert in_child(payload).value == [False, 0]


@linux_only
def test_a_child_dies_with_its_parent() -> None:
    def payload() -> int:
        child = os.fork()
        if child == 0:
            process.die_with_parent(signal.SIGKILL)
            time.sleep(20)
            os._exit(0)
        time.sleep(0.05)  # until it has asked for it
        return child

    child = in_child(payload).value
    deadline = time.monotonic() + 5
    while _lives(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    """Whether it still runs; whoever adopted it may not have reaped it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@as_root
def test_root_becomes_nobody_without_groups_or_capabilities() -> None:
    def payload() -> list[object]:
        assert process.drop_bounding_set()
        assert process.drop_to_nobody()
        return [
            os.getresuid(),
            os.getresgid(),
            os.getgroups(),
            *[status(name) for name in ("CapEff", "CapPrm", "CapBnd")],
            errno_of(os.setuid, 0),
        ]

    nobody = [process.NOBODY] * 3
    assert in_child(payload).value == [nobody, nobody, [], *["0" * 16] * 3, errno.EPERM]


@as_root
def test_only_root_has_to_drop() -> None:
    def payload() -> list[bool]:
        return [process.drop_to_nobody(), process.drop_to_nobody(), process.drop_bounding_set()]

    assert in_child(payload).value == [True, False, False]


def test_limits_are_lowered_for_good() -> None:
    def payload() -> list[object]:
        process.limit_resources({resource.RLIMIT_NOFILE: 32, resource.RLIMIT_CPU: (5, 6)})
        process.limit_resources({resource.RLIMIT_NOFILE: 64})
        return [resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CPU)]

    assert in_child(payload).value == [[32, 32], [5, 6]]


def test_a_limit_holds() -> None:
    def payload() -> int:
        process.limit_resources({resource.RLIMIT_NOFILE: 3})
        return errno_of(os.dup, 1)

    assert in_child(payload).value == errno.EMFILE
