"""Marks: inherited by whatever a command starts, read back from anywhere."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.sandboxes import marks
from pi_batch.sandboxes.marks import MAX_NUMBER, Mark

numbers = st.integers(min_value=1, max_value=MAX_NUMBER)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        ["sh", "-c", "read -r line; env -i setsid sh -c 'sleep 99 & echo $!; wait'"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        yield child
        child.kill()


def test_a_mark_survives_sessions_forks_and_a_cleared_environment(sleeper: subprocess.Popen[bytes]) -> None:
    mark = Mark(marks.runner_id(), 7, 9)
    marks.put(mark, sleeper.pid)
    assert sleeper.stdin is not None
    assert sleeper.stdout is not None
    sleeper.stdin.write(b"go\n")
    sleeper.stdin.flush()
    grandchild = int(sleeper.stdout.readline())
    assert marks.read(sleeper.pid) == mark
    assert marks.read(grandchild) == mark
    os.kill(grandchild, 9)


def test_a_mark_reaches_what_was_forked_before_it_was_put(sleeper: subprocess.Popen[bytes]) -> None:
    assert sleeper.stdin is not None
    assert sleeper.stdout is not None
    sleeper.stdin.write(b"go\n")
    sleeper.stdin.flush()
    grandchild = int(sleeper.stdout.readline())
    assert marks.read(grandchild) is None
    marks.put(Mark(1, 2, 3), sleeper.pid)
    assert marks.read(grandchild) == Mark(1, 2, 3)
    os.kill(grandchild, 9)


def test_variables_stand_in_where_no_limit_was_set() -> None:
    mark = Mark(marks.runner_id(), 3, 4)
    env = {"PATH": os.defpath, **mark.variables}
    with subprocess.Popen(["sh", "-c", "echo; exec sleep 9"], env=env, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert marks.read(child.pid) == mark
        child.kill()


@pytest.mark.parametrize("value", ["", "x", "1.2", "1.2.3.4", "g.1.2", "1.2.x"])
def test_a_foreign_value_of_the_variable_is_no_mark(value: str) -> None:
    env = {"PATH": os.defpath, marks.CALL_VARIABLE: value}
    with subprocess.Popen(["sleep", "99"], env=env) as child:
        assert marks.read(child.pid) is None
        child.kill()


def test_processes_without_a_mark_and_missing_ones_have_none() -> None:
    assert marks.read(os.getpid()) is None
    assert marks.read(2**22 + 1) is None
    marks.put(Mark(1, 1, 1), 2**22 + 1)


def test_the_mark_that_we_have_ourselves_is_nobody_elses() -> None:
    """A runner inside a task has that task's mark, and so have its own git calls."""
    script = """
import os, subprocess
from pi_batch.sandboxes import marks
marks.put(marks.Mark(1, 2, 3), os.getpid())
child = subprocess.Popen(["sleep", "99"])
assert marks.read(child.pid) is None
marks.put(marks.Mark(marks.runner_id(), 1, 1), child.pid)
assert marks.read(child.pid) == marks.Mark(marks.runner_id(), 1, 1)
child.kill()
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_forked_worker_is_another_runner() -> None:
    reading, writing = os.pipe()
    ours = marks.runner_id()
    pid = os.fork()
    if pid == 0:
        os.write(writing, str(marks.runner_id()).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert int(os.read(reading, 99)) != ours
    os.close(reading)
    os.close(writing)


@given(st.integers(min_value=0, max_value=2**30 - 1), numbers, numbers)
def test_a_limit_holds_every_mark_and_never_bites(runner: int, task: int, call: int) -> None:
    mark = Mark(runner, task, call)
    assert 2**62 <= mark.limit < resource.RLIM_INFINITY % 2**63
    assert Mark(runner, task, 0).covers(mark)
    assert mark.covers(mark)
    assert not mark.covers(Mark(runner, task, 0))
    assert not Mark(runner, task % MAX_NUMBER + 1, 0).covers(mark)
    assert not Mark(runner ^ 1, task, call).covers(mark)
