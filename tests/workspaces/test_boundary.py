"""Threads that stop when nobody waits, and errors of the system in our own words."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.boundary import Checkpoint, in_thread, workspace_errors


async def test_work_gives_its_result() -> None:
    assert await in_thread(lambda _: 42) == 42


async def test_an_error_in_the_work_is_the_callers() -> None:
    def work(_: Checkpoint) -> None:
        raise FileNotFoundError("gone")

    with pytest.raises(FileNotFoundError):
        await in_thread(work)


async def test_cancelled_work_stops_at_its_next_checkpoint_and_is_waited_for() -> None:
    steps: list[str] = []

    def work(checkpoint: Checkpoint) -> None:
        steps.append("started")
        try:
            while True:
                time.sleep(0.01)
                checkpoint()
        finally:
            steps.append("ended")

    task = asyncio.create_task(in_thread(work))
    while not steps:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == ["started", "ended"]


def test_an_error_of_the_system_names_the_path_and_the_reason(tmp_path: Path) -> None:
    with (
        pytest.raises(WorkspaceError, match=r"gone': No such file or directory"),
        workspace_errors("elsewhere"),
    ):
        (tmp_path / "gone").read_bytes()


def test_an_error_without_a_path_names_the_place() -> None:
    with pytest.raises(WorkspaceError, match="'the place': No space left"), workspace_errors("the place"):
        raise OSError(28, "No space left on device")


def test_an_error_about_bytes_is_readable() -> None:
    with pytest.raises(WorkspaceError, match="'gone': No such"), workspace_errors("x"):
        raise FileNotFoundError(2, "No such file", b"gone")


def test_other_errors_pass() -> None:
    with pytest.raises(WorkspaceError, match=r"^as it is$"), workspace_errors("x"):
        raise WorkspaceError("as it is")
