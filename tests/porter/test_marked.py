"""Processes are found by the mark in their limits, and by nothing else."""

from __future__ import annotations

import resource
import signal
import subprocess
from collections.abc import Iterator

import pytest

from pi_batch.porter.marked import signal_marked
from pi_batch.sandboxes.marks import CALL_BITS, Mark, inherited, runner_id

ONE, TWO, OTHER = (Mark(runner_id(), task, call) for task, call in ((7001, 1), (7001, 2), (7002, 1)))


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    """A process of each call."""
    started = []
    for mark in (ONE, TWO, OTHER):
        with inherited(mark):
            started.append(subprocess.Popen(["sleep", "600"], start_new_session=True))
    yield started
    for process in started:
        process.kill()
        process.wait()


def test_a_call_is_told_from_another_and_a_task_has_all_of_its_calls(
    sleepers: list[subprocess.Popen[bytes]],
) -> None:
    assert signal_marked(ONE.limit, 0, 0) == 1
    assert signal_marked(Mark(ONE.runner, ONE.task, 0).limit, CALL_BITS, 0) == 2
    assert signal_marked(ONE.limit, 0, signal.SIGKILL) == 1
    assert sleepers[0].wait() == -signal.SIGKILL
    assert [process.poll() for process in sleepers[1:]] == [None, None]
    assert signal_marked(ONE.limit, 0, 0) == 0


def test_a_stopped_process_is_continued_so_that_it_can_end(sleepers: list[subprocess.Popen[bytes]]) -> None:
    sleepers[2].send_signal(signal.SIGSTOP)
    signal_marked(OTHER.limit, 0, signal.SIGTERM)
    assert sleepers[2].wait() == -signal.SIGTERM


def test_what_carries_no_mark_is_nobodys(sleepers: list[subprocess.Popen[bytes]]) -> None:
    del sleepers
    assert signal_marked(Mark(runner_id(), 7003, 1).limit, 0, signal.SIGKILL) == 0
    assert resource.getrlimit(resource.RLIMIT_RTTIME)[0] != ONE.limit
