"""Orphans come to us while a sandbox is open, and nobody else's children are reaped."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pi_batch.sandboxes import marks
from pi_batch.sandboxes.adoption import ADOPTION, Adoption, has_children
from pi_batch.sandboxes.marks import Mark
from pi_batch.sandboxes.processes import snapshot


def _orphan() -> int:
    """The pid of a process whose parent has just ended."""
    shell = subprocess.run(
        ["sh", "-c", "sleep 99 >/dev/null 2>&1 & echo $!"], stdout=subprocess.PIPE, check=True
    )
    return int(shell.stdout)


def test_orphans_come_here_while_one_sandbox_is_open_and_not_after() -> None:
    adoption = Adoption()
    adoption.acquire()
    adoption.acquire()
    assert not adoption.is_last
    adoption.release()
    assert adoption.is_last
    first = _orphan()
    assert adoption.is_active
    assert snapshot()[first].parent == os.getpid()
    adoption.release()
    second = _orphan()
    assert not adoption.is_active
    assert snapshot()[second].parent != os.getpid()
    for pid in (first, second):
        os.kill(pid, 9)
    os.waitpid(first, 0)


def test_only_marked_orphans_are_reaped() -> None:
    with marks.inherited(Mark(marks.runner_id(), 1, 1)):
        marked = subprocess.Popen(["sleep", "99"])
    ours = subprocess.Popen(["sleep", "99"])
    marked.kill()
    ours.terminate()
    _wait_for_zombies(marked.pid, ours.pid)
    adoption = Adoption()
    adoption.commands.add(marked.pid)
    adoption.reap_ended()
    assert marked.pid in snapshot(), "somebody waits for a command"
    adoption.commands.clear()
    adoption.reap(marked.pid)
    assert marked.pid not in snapshot()
    adoption.reap(marked.pid)
    adoption.reap_ended()
    assert ours.wait() == -15
    marked.returncode = -9


def test_a_child_that_another_thread_reaps_in_the_same_moment_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = subprocess.Popen(["true"])
    _wait_for_zombies(theirs.pid)
    session_of = os.getsid

    def session_of_a_reaped_one(pid: int) -> int:
        theirs.wait()
        return session_of(pid)

    monkeypatch.setattr(os, "getsid", session_of_a_reaped_one)
    Adoption().reap_ended()
    assert theirs.returncode == 0


def test_what_another_thread_starts_in_the_same_moment_loses_the_mark_again() -> None:
    mark = Mark(marks.runner_id(), 1, 1)
    adoption = Adoption()
    with marks.inherited(mark):
        theirs = subprocess.Popen(["sleep", "99"])
        command = subprocess.Popen(["sleep", "99"], start_new_session=True)
        daemon = subprocess.Popen(["sleep", "99"], start_new_session=True)
    adoption.commands.add(command.pid)
    with ThreadPoolExecutor() as pool:
        pool.submit(lambda: None).result()
        adoption.take_marks_off_others(mark)
    assert marks.read(theirs.pid) is None
    assert marks.read(command.pid) == marks.read(daemon.pid) == mark
    for child in (theirs, command, daemon):
        child.kill()
        child.wait()


def _wait_for_zombies(*pids: int) -> None:
    deadline = time.monotonic() + 5
    while not all(snapshot()[pid].is_zombie for pid in pids):
        assert time.monotonic() < deadline


async def test_asyncios_own_children_keep_their_exit_status() -> None:
    children = [await asyncio.create_subprocess_exec("sh", "-c", f"exit {code}") for code in range(1, 9)]
    for _ in range(50):
        ADOPTION.reap_ended()
        await asyncio.sleep(0.002)
    assert [await child.wait() for child in children] == list(range(1, 9))


def test_having_no_children_at_all_is_seen_at_once() -> None:
    script = "from pi_batch.sandboxes.adoption import *; ADOPTION.reap_ended(); print(has_children())"
    shown = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True)
    assert shown.stdout == b"False\n"
    with subprocess.Popen(["sleep", "99"]) as child:
        assert has_children()
        child.kill()
