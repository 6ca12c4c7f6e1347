"""Marks: inherited by whatever a command starts, read back from anywhere."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.sandboxes import marks
from pi_batch.sandboxes.marks import MAX_NUMBER, Mark

numbers = st.integers(min_value=1, max_value=MAX_NUMBER)


def test_a_mark_survives_sessions_forks_and_a_cleared_environment() -> None:
    mark = Mark(marks.runner_id(), 7, 9)
    with marks.inherited(mark):
        child = subprocess.Popen(
            ["sh", "-c", "env -i setsid sh -c 'sleep 99 & echo $!; wait'; :"], stdout=subprocess.PIPE
        )
    with child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        assert marks.read(child.pid) == marks.read(grandchild) == mark
        marks.take_off(grandchild)
        assert marks.read(grandchild) is None
        os.kill(grandchild, 9)


def test_this_process_has_its_own_limit_again_afterwards() -> None:
    before = resource.getrlimit(resource.RLIMIT_RTTIME)
    with contextlib.suppress(OSError), marks.inherited(Mark(1, 2, 3)):
        assert resource.getrlimit(resource.RLIMIT_RTTIME) == (Mark(1, 2, 3).limit, before[1])
        raise OSError("full")
    assert resource.getrlimit(resource.RLIMIT_RTTIME) == before
    marks.take_off(2**22 + 1)


def test_variables_stand_in_where_no_limit_was_set() -> None:
    mark = Mark(marks.runner_id(), 3, 4)
    env = {"PATH": os.defpath, **mark.variables}
    with subprocess.Popen(["sh", "-c", "echo; sleep 9; :"], env=env, stdout=subprocess.PIPE) as child:
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


def test_the_mark_that_we_have_ourselves_is_nobody_elses() -> None:
    """A runner inside a task has that task's mark, and so have its own git calls."""
    script = """
import subprocess
from pi_batch.sandboxes import marks
own, mark = subprocess.Popen(["sleep", "9"]), marks.Mark(marks.runner_id(), 1, 1)
assert marks.read(own.pid) is None
with marks.inherited(mark):
    command = subprocess.Popen(["sleep", "9"])
assert marks.read(command.pid) == mark
assert marks.read(own.pid) is None
own.kill()
command.kill()
"""
    with marks.inherited(Mark(1, 2, 3)):
        child = subprocess.Popen([sys.executable, "-c", script])
    assert child.wait() == 0


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
