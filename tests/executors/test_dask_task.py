"""What a worker does with a trial: watch its process, say how it failed, leave nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from pi_batch.executors.dask_task import run_process


def never() -> bool:
    return False


def shell(script: str) -> Sequence[str]:
    return ("/bin/sh", "-c", script)


def test_a_trial_that_ends_well_has_nothing_to_say(tmp_path: Path) -> None:
    said = run_process(shell('read claim; echo "$claim" > got; echo noise >&2'), tmp_path, "{}", never)
    assert said == ""


def test_the_claim_is_the_first_line_of_standard_input(tmp_path: Path) -> None:
    run_process(shell(f'read claim; echo "$claim" > {tmp_path}/got'), tmp_path, '{"a": 1}', never)
    assert (tmp_path / "got").read_text(encoding="utf-8") == '{"a": 1}\n'


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo pi-batch: no plan there >&2; exit 2", "no plan there"),
        ("echo one >&2; echo two >&2; exit 3", "two"),
        ("exit 7", "exit code 7"),
        ("kill -9 $$", "exit code -9"),
    ],
)
def test_how_a_trial_failed_is_the_last_that_it_said(tmp_path: Path, script: str, said: str) -> None:
    (tmp_path / "stderr.log").write_text("of an earlier execution\n", encoding="utf-8")
    assert run_process(shell(script), tmp_path, "{}", never) == said


def test_a_run_directory_that_is_not_shared_is_said(tmp_path: Path) -> None:
    said = run_process(shell("true"), tmp_path / "gone", "{}", never)
    assert "the run directory has to be shared with every worker" in said


def test_a_cancelled_trial_is_ended_with_everything_below_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {pid}; wait"

    def is_cancelled() -> bool:
        return pid.is_file() and bool(pid.read_text(encoding="utf-8").strip())

    assert run_process(shell(script), tmp_path, "{}", is_cancelled) == "cancelled"
    child = int(pid.read_text(encoding="utf-8"))
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE
