"""Finding and ending what belongs together, also where orphans go to init."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys

import pytest

from pi_batch.sandboxes import marks
from pi_batch.sandboxes.adoption import ADOPTION
from pi_batch.sandboxes.ending import Kin, end
from pi_batch.sandboxes.marks import Mark
from pi_batch.sandboxes.processes import snapshot

MARK = Mark(marks.runner_id(), 60_000, 1)


@pytest.fixture
def orphan() -> int:
    """A marked daemon of init's: no sandbox is open, so that nobody adopts it."""
    assert not ADOPTION.is_active
    script = "env -i setsid sh -c 'sleep 99 >/dev/null 2>&1 & echo $!'"
    with marks.inherited(MARK):
        shell = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    printed, _ = shell.communicate()
    return int(printed)


async def test_an_orphan_that_went_to_init_is_found_by_its_mark(orphan: int) -> None:
    assert snapshot()[orphan].parent != os.getpid()
    assert [process.pid for process in Kin(MARK, []).living()] == [orphan]
    assert Kin(Mark(MARK.runner, MARK.task, 2), []).living() == []
    assert await end(Kin(Mark(MARK.runner, MARK.task, 0), []), grace_s=2, hurry=asyncio.Event()) == []
    assert Kin(MARK, []).living() == []


async def test_a_stopped_process_is_continued_so_that_it_can_end_in_order(orphan: int) -> None:
    os.kill(orphan, signal.SIGSTOP)
    start = asyncio.get_running_loop().time()
    assert await end(Kin(MARK, []), grace_s=30, hurry=asyncio.Event()) == []
    assert asyncio.get_running_loop().time() - start < 5


async def test_what_cannot_be_ended_is_given_back(monkeypatch: pytest.MonkeyPatch, orphan: int) -> None:
    """Another user's process refuses every signal."""

    def refuse(group: int, signum: int) -> None:
        raise PermissionError(group, signum)

    clock = itertools.count(0, 0.5)
    with monkeypatch.context() as system:
        system.setattr(os, "killpg", refuse)
        system.setattr(asyncio.get_running_loop(), "time", lambda: float(next(clock)))
        left = await end(Kin(MARK, []), grace_s=1, hurry=asyncio.Event())
    assert [process.pid for process in left] == [orphan]
    os.kill(orphan, signal.SIGKILL)


def test_everything_below_can_be_killed_at_once() -> None:
    """In a process of its own: it would take this one's other children too."""
    script = (
        "import subprocess; from pi_batch.sandboxes.ending import kill_all_below\n"
        "deaf = \"trap '' TERM; sleep 98 & setsid sleep 97 & echo $!; wait\"\n"
        "child = subprocess.Popen(['bash', '-c', deaf], stdout=subprocess.PIPE, start_new_session=True)\n"
        "print(child.stdout.readline().decode().strip(), flush=True)\n"
        "kill_all_below(); print(child.wait(5)); kill_all_below()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    pid, code = done.stdout.split()
    assert int(code) in (0, -signal.SIGKILL)  # 0: its children were gone before its own turn came
    assert int(pid) not in snapshot() or snapshot()[int(pid)].is_zombie
