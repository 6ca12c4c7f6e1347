"""Where a leg's files are, and what of earlier legs is still there."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest

from pi_batch.engine.legs import Mode, Work, read_earlier
from pi_batch.wiring.run_leg import (
    Leg,
    clear_up,
    has_kept,
    make_private,
    may_be_private,
    private_directory,
    state_dir_of,
)
from pi_batch.wiring.run_lock import Holder
from tests.streams import Stream

STARTED = read_earlier(Stream("a").start("a").records)


def leg(path: Path, mode: Mode, number: int = 2) -> Leg:
    return Leg(path / "run", path / "private", Work({"a": mode}, STARTED), number)


def fill(one: Leg) -> None:
    for directory in (one.task_dir("a"), one.state_dir("a")):
        directory.mkdir(parents=True)
        (directory / "old").touch()


@pytest.mark.parametrize(
    ("mode", "keeps_task", "keeps_state"),
    [
        ("go_on", True, True),
        ("prompt", True, False),
        ("reverify", True, False),
        ("begin", False, False),
        ("rerun", False, False),
    ],
)
def test_what_is_gone_on_with_stays_and_the_rest_is_moved_aside(
    tmp_path: Path, mode: Mode, keeps_task: bool, keeps_state: bool
) -> None:
    one = leg(tmp_path, mode)
    fill(one)
    one.ready("a")
    assert (one.task_dir("a") / "old").exists() == keeps_task
    assert (one.state_dir("a") / "old").exists() == keeps_state
    assert (tmp_path / "run/earlier/1/a/old").exists() != keeps_task
    assert one.task_dir("a").is_dir()
    assert one.state_dir("a").is_dir()


def test_a_first_leg_takes_directories_as_it_finds_them(tmp_path: Path) -> None:
    one = Leg(tmp_path / "run", tmp_path / "private", Work({"a": "begin"}, read_earlier(())))
    fill(one)
    one.ready("a")
    assert (one.task_dir("a") / "old").exists()


def test_each_task_has_a_private_directory_that_is_the_same_in_every_leg(tmp_path: Path) -> None:
    assert state_dir_of(tmp_path, "a") == state_dir_of(tmp_path, "a")
    assert state_dir_of(tmp_path, "a") != state_dir_of(tmp_path, "b")
    assert "/" not in state_dir_of(tmp_path, "a/b").name


def test_a_private_directory_goes_with_all_that_is_in_it() -> None:
    with private_directory(None) as path:
        assert not path.exists(), "its name is written down before it is made"
        make_private(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        locked = path / "a" / "b"
        locked.mkdir(parents=True)
        (locked / "c.txt").write_text("x")
        locked.chmod(0o500)
        locked.parent.chmod(0o500)
    assert not path.exists()


def test_it_stays_while_a_workspace_in_it_can_be_gone_on_with() -> None:
    with private_directory(None) as path:
        make_private(path)
        (path / "t").mkdir()
        (path / "t/workspace.json").touch()
        assert has_kept(path)
    assert path.exists()
    with private_directory(path) as again:
        assert again == path
        make_private(again)
        (path / "t/workspace.json").unlink()
    assert not path.exists()


def test_a_directory_that_is_not_ours_is_never_taken_for_one(tmp_path: Path) -> None:
    names = {"documents": 0o700, "pi-batch-open": 0o755}
    for name, mode in names.items():
        (tmp_path / name).mkdir(mode=mode)
        (tmp_path / name).chmod(mode)
    (tmp_path / "pi-batch-link").symlink_to(tmp_path / "documents")
    for name in (*names, "pi-batch-link", "pi-batch-elsewhere"):
        assert not may_be_private(tmp_path / name)
        with private_directory(tmp_path / name) as path:
            assert path.parent == Path(tempfile.gettempdir()).resolve()
    assert (tmp_path / "documents").is_dir()
    (tmp_path / "pi-batch-own").mkdir(mode=0o700)
    assert may_be_private(tmp_path / "pi-batch-own")


def test_half_written_files_of_a_killed_process_are_removed_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "tasks/t").mkdir(parents=True)
    half = (".run.json.abc", ".junit.xml.abc", ".plan.json.abc", "tasks/t/.changes.patch.abc")
    kept = (".gitignore", ".lock", "run.json", "tasks/t/session.jsonl", ".env")
    for name in (*half, *kept):
        (tmp_path / name).touch()
    clear_up(tmp_path, Holder(), ["t"])
    assert {name for name in (*half, *kept) if (tmp_path / name).exists()} == set(kept)
