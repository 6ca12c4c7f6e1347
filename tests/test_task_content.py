"""The digest of a task: what counts in it, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.task_content import content_digest, read_parts, read_tree, task_digest
from tests.benches import FILES, make_task, put


def digest(directory: Path) -> str:
    return task_digest(directory / "task.yaml", directory / "workspace", [directory / "checks"])


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return make_task(tmp_path / "answer")


def test_it_is_the_same_wherever_the_task_lies(task: Path, tmp_path: Path) -> None:
    other = make_task(tmp_path / "elsewhere" / "answer")
    assert digest(other) == digest(task)
    assert len(digest(task)) == 64


def test_line_endings_modes_and_what_tools_leave_do_not_count(task: Path) -> None:
    before = digest(task)
    (task / "workspace/answer.txt").write_bytes(b"?\r\n")
    (task / "checks/run.sh").chmod(0o755)
    put(task, {"workspace/__pycache__/a.pyc": "x", "checks/x.pyc": "x", "workspace/.DS_Store": "x"})
    assert digest(task) == before


def test_bytes_that_are_no_text_count_as_they_are(task: Path) -> None:
    (task / "workspace/answer.txt").write_bytes(b"\0\r\n")
    before = digest(task)
    (task / "workspace/answer.txt").write_bytes(b"\0\n")
    assert digest(task) != before


@pytest.mark.parametrize("name", ["task.yaml", "workspace/answer.txt", "checks/wanted", "workspace/new"])
def test_every_file_that_a_model_gets_or_is_judged_by_counts(task: Path, name: str) -> None:
    before = digest(task)
    put(task, {name: "other\n"})
    assert digest(task) != before


def test_solutions_do_not_count(task: Path) -> None:
    before = digest(task)
    put(task, {"solution/answer.txt": "x", "alternatives/a/answer.txt": "x", "mistakes/m/answer.txt": "x"})
    assert digest(task) == before


def test_a_file_that_moves_or_runs_into_another_counts() -> None:
    assert content_digest({"a": b"bc"}) != content_digest({"ab": b"c"})
    assert content_digest({"a": b"x", "b": b""}) != content_digest({"a": b"", "b": b"x"})
    assert content_digest({"a": b"1", "b": b"2"}) == content_digest({"b": b"2", "a": b"1"})


def test_a_link_counts_by_where_it_leads_and_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, {"secret/file": "x", "tree/a": "a"})
    (tmp_path / "tree" / "link").symlink_to("../secret")
    assert read_tree(tmp_path / "tree") == {"a": b"a", "link": b"-> ../secret"}


def test_parts_stand_under_their_own_names(tmp_path: Path) -> None:
    put(tmp_path, {**FILES, "one.txt": "1"})
    parts = read_parts([tmp_path / "checks", tmp_path / "one.txt"])
    assert sorted(parts) == ["checks/run.sh", "checks/wanted", "one.txt"]
