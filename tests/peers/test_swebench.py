"""SWE-bench rows: read in each of their forms, and refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pi_batch.peers.swebench import Change, Row, find_repository, imported, read_rows
from pi_batch.peers.task_files import TaskFile
from tests.peers.foreign import put

ROW: dict[str, Any] = {
    "instance_id": "acme__calc-1",
    "repo": "acme/calc",
    "base_commit": "0" * 40,
    "problem_statement": "add() subtracts {{ x }}",
    "test_patch": "diff",
    "patch": "diff",
    "FAIL_TO_PASS": '["tests/t.py::a"]',
    "PASS_TO_PASS": ["tests/t.py::b"],
}


def one(**changes: Any) -> Row | str:
    return read_rows(json.dumps([{**ROW, **changes}]), "rows.json")[0][1]


def test_rows_are_read_from_a_list_an_object_a_line_or_alone() -> None:
    texts = {
        "a.json": json.dumps([ROW]),
        "b.json": json.dumps({"acme__calc-1": ROW}),
        "c.json": json.dumps(ROW),
        "d.jsonl": f"{json.dumps(ROW)}\n\n",
    }
    for name, text in texts.items():
        ((shown, row),) = read_rows(text, name)
        assert shown == "acme__calc-1"
        assert isinstance(row, Row)
        assert (row.fail_to_pass, row.pass_to_pass) == (("tests/t.py::a",), ("tests/t.py::b",))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"test_patch": ""}, "has no test_patch"),
        ({"repo": None, "base_commit": 3}, "has no repo, base_commit"),
        ({"FAIL_TO_PASS": []}, "FAIL_TO_PASS names no test"),
        ({"FAIL_TO_PASS": "[x"}, "FAIL_TO_PASS is no JSON list"),
        ({"PASS_TO_PASS": [3]}, "PASS_TO_PASS is no list of tests"),
        ({"FAIL_TO_PASS": ["test_x (a.B)"]}, "is not named as pytest does: only pytest is supported"),
    ],
)
def test_a_row_that_cannot_be_a_task_says_why(changes: dict[str, Any], reason: str) -> None:
    found = one(**changes)
    assert isinstance(found, str)
    assert reason in found


def test_what_is_no_row_is_numbered() -> None:
    assert read_rows("[3, {}]", "x.json")[0] == ("row 1", "is no JSON object")
    assert read_rows("[3, {}]", "x.json")[1][0] == "row 2"


@pytest.mark.parametrize(("text", "name"), [("{", "x.json"), ("{}\n{", "x.jsonl"), ("[" * 99_999, "x.json")])
def test_a_file_that_is_no_json_names_its_place(text: str, name: str) -> None:
    with pytest.raises(ValueError, match=r"x\.json(l:2)?: no JSON"):
        read_rows(text, name)


@pytest.mark.parametrize(
    "place", ["acme/calc/.git", "acme__calc/.git", "calc/.git", "calc.git", "acme/calc.git", "acme-calc/.git"]
)
def test_a_repository_is_found_under_each_of_its_names(tmp_path: Path, place: str) -> None:
    put(tmp_path / place, HEAD="ref", objects__x="")
    assert find_repository(tmp_path, "acme/calc") == tmp_path / place


def test_a_repository_is_looked_for_in_its_directory_only(tmp_path: Path) -> None:
    put(tmp_path / "evil/.git", HEAD="ref", objects__x="")
    (tmp_path / "repos").mkdir()
    for name in ("../evil", "..", "", "/", "acme/../../evil"):
        assert find_repository(tmp_path / "repos", name) is None


def test_a_row_becomes_a_task_with_its_tests_hidden_and_its_patch_as_the_solution() -> None:
    row = one()
    assert isinstance(row, Row)
    tests = Change({"tests/t.py": TaskFile(b"new")}, ("tests/old.py",))
    task = imported(row, tests, Change({"calc.py": TaskFile(b"+")}, ("gone",)), ["pip install -e ."])
    assert set(task.hidden) == {"judge.py", "config.json", "files/tests/t.py"}
    assert json.loads(task.hidden["config.json"].content)["deleted"] == ["tests/old.py"]
    assert {name: file.content for name, file in task.solution.items()} == {
        "calc.py": b"+",
        ".deleted": b"gone\n",
    }
    assert "add() subtracts {{ x }}" in task.prompt
    assert (task.id, task.setup, task.notes) == ("acme__calc-1", ("pip install -e .",), ())
    assert imported(row, tests, None, ()).notes == (
        "its patch makes files that are no text, so there is no reference solution",
    )
