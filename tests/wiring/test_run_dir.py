"""A run's files go to a new directory that the project's git does not see."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError, UsageError
from pi_batch.wiring.run_dir import make_run_dir


def status(cwd: Path) -> str:
    done = subprocess.run(
        ["git", "status", "--porcelain"], cwd=cwd, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def test_the_usual_place_is_invisible_to_git(repository: Path) -> None:
    run_dir = make_run_dir(repository, "r1", None, None)
    (run_dir / "run.json").write_text("{}")
    assert run_dir == repository / ".pi-batch" / "runs" / "r1"
    assert status(repository) == ""


def test_a_named_directory_that_is_made_is_invisible_too(repository: Path) -> None:
    run_dir = make_run_dir(repository, "r1", Path("out/deep"), None)
    (run_dir / "run.json").write_text("{}")
    assert status(repository) == ""


def test_a_directory_that_was_there_is_left_as_it_is(repository: Path) -> None:
    (repository / "out").mkdir()
    assert make_run_dir(repository, "r1", Path("out"), None) == repository / "out"
    assert list((repository / "out").iterdir()) == []
    assert make_run_dir(repository, "r1", Path(), None) == repository
    assert not (repository / ".gitignore").exists()


def test_runs_go_below_a_configured_directory(repository: Path) -> None:
    first = make_run_dir(repository, "r1", None, repository / "runs")
    second = make_run_dir(repository, "r2", None, repository / "runs")
    assert [first.name, second.name] == ["r1", "r2"]
    assert status(repository) == ""


@pytest.mark.parametrize("name", ["run.json", "events.jsonl"])
def test_a_directory_that_holds_a_run_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(UsageError, match="holds a run already"):
        make_run_dir(tmp_path, "r1", Path(), None)


def test_two_runs_of_one_name_never_share_a_directory(tmp_path: Path) -> None:
    make_run_dir(tmp_path, "r1", None, None)
    with pytest.raises(LogWriteError, match="File exists"):
        make_run_dir(tmp_path, "r1", None, None)


def test_what_is_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(LogWriteError, match=r"out: the run directory cannot be made: .*--output"):
        make_run_dir(tmp_path, "r1", Path("out"), None)
