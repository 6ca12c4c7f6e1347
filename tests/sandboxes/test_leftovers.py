"""Commands that outlived their runner are found by its mark and ended."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from pi_batch.sandboxes import marks
from pi_batch.sandboxes.leftovers import end_leftovers
from pi_batch.sandboxes.marks import Mark

RUNNER = 0x1234_5678 & 0x3FFF_FFFF


@pytest.fixture
def left() -> Iterator[subprocess.Popen[bytes]]:
    """A command of another runner, with a child that left its session."""
    mark = Mark(RUNNER, 1, 1)
    script = "setsid sleep 1008.5 & sleep 1008.5"
    with marks.inherited(mark):
        process = subprocess.Popen(
            ["sh", "-c", script], env={**os.environ, **mark.variables}, start_new_session=True
        )
    yield process
    process.kill()
    process.wait()


def test_what_another_runner_left_is_ended(left: subprocess.Popen[bytes]) -> None:
    assert end_leftovers(RUNNER) >= 1
    assert left.wait(timeout=5) == -signal.SIGKILL
    assert end_leftovers(RUNNER) == 0


def test_other_processes_are_left_alone(left: subprocess.Popen[bytes]) -> None:
    assert end_leftovers(RUNNER + 1) == 0
    assert left.poll() is None


def test_a_runner_never_ends_its_own() -> None:
    assert end_leftovers(marks.runner_id()) == 0
