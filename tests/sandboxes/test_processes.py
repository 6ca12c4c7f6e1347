"""Snapshots of the machine's processes, from /proc and by psutil."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pi_batch.sandboxes import processes
from pi_batch.sandboxes.processes import Process, snapshot, with_descendants


@contextmanager
def _child(script: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        ["sh", "-c", script], stdout=subprocess.PIPE, stdin=subprocess.PIPE, start_new_session=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        try:
            yield child
        finally:
            os.killpg(child.pid, 9)


def test_a_snapshot_shows_parents_groups_and_sessions() -> None:
    with _child("sleep 99 & echo; wait") as child:
        table = snapshot()
        (sleep,) = [p for p in table.values() if p.parent == child.pid]
        assert table[child.pid].parent == os.getpid()
        assert sleep.session == sleep.group == child.pid == table[child.pid].session
        assert with_descendants([child.pid], table) == {child.pid, sleep.pid}
        assert {child.pid, sleep.pid} < with_descendants([os.getpid()], table)


def test_psutil_shows_the_same() -> None:
    def bare(process: Process) -> tuple[int, int, int, int, bool]:
        return process.pid, process.parent, process.group, process.session, process.is_zombie

    with _child("sleep 99 & echo; wait") as child:
        ours = with_descendants([os.getpid()], snapshot())
        from_proc = {bare(process) for pid, process in snapshot().items() if pid in ours}
        by_psutil = {bare(process) for pid, process in processes._from_psutil().items() if pid in ours}
        assert child.pid in ours
        assert from_proc == by_psutil


def test_an_unreaped_child_is_a_zombie_and_one_whose_main_thread_ended_is_none() -> None:
    with subprocess.Popen(["true"], stdout=subprocess.PIPE) as ended:
        assert ended.stdout is not None
        ended.stdout.read()
        while not snapshot()[ended.pid].is_zombie:
            pass
    script = """
import ctypes, threading, time
threading.Thread(target=lambda: (time.sleep(0.2), print(flush=True), time.sleep(99))).start()
ctypes.CDLL(None).pthread_exit(None)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as living:
        assert living.stdout is not None
        living.stdout.readline()
        assert not snapshot()[living.pid].is_zombie
        living.kill()


@pytest.mark.parametrize("name", [b"sh", b"a b", b") Z 1 (", b"((", b"\xff"])
def test_a_name_may_hold_anything(name: bytes) -> None:
    stat = b"12 (" + name + b") S 3 4 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 777 8 9\n"
    assert processes._parse_stat(stat) == Process(12, 3, 4, 5, 777.0, False)


def test_a_circle_of_reused_pids_ends() -> None:
    table = {1: Process(1, 2, 1, 1, 0.0, False), 2: Process(2, 1, 1, 1, 0.0, False)}
    assert with_descendants([1], table) == {1, 2}
