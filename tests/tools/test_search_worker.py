"""The worker's side of the conversation: one request in, JSON lines out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pi_batch.tools.search_worker import MAX_DIRECTORIES, main

END = {"is_more": False, "hidden": 0, "large": [], "unreadable": 0}


def ask(capsys: pytest.CaptureFixture[str], root: Path, **request: Any) -> list[dict[str, Any]]:
    """The records that one request is answered with."""
    full = {
        "mode": "grep",
        "root": str(root),
        "workspace": str(root),
        "search_path": "",
        "allow": None,
        "deny": [],
        "max_file_bytes": 1000,
        "pattern": "hit",
        "glob": "",
        "ignore_case": False,
        "literal": False,
        "context": 0,
        "limit": 10,
        **request,
    }
    main([json.dumps(full)])
    out = capsys.readouterr().out
    assert out.isascii()
    return [json.loads(line) for line in out.split("\n") if line]


def test_grep_answers_lines_and_an_end(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "é.txt").write_text("hit\nmiss\n")
    assert ask(capsys, tmp_path) == [
        {"path": "é.txt", "line": 1, "text": "hit", "is_match": True},
        {"end": END},
    ]


def test_context_lines_are_marked_as_such(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\nhit\n3\n")
    records = ask(capsys, tmp_path, context=1)
    assert [record.get("is_match") for record in records] == [False, True, False, None]


def test_find_answers_paths_and_some_directories(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for number in range(MAX_DIRECTORIES + 5):
        (tmp_path / f"x{number:02}").mkdir()
    (tmp_path / "xfile").write_text("")
    records = ask(capsys, tmp_path, mode="find", pattern="x*")
    assert sum("directory" in record for record in records) == MAX_DIRECTORIES
    assert [record["path"] for record in records if "path" in record] == ["xfile"]


def test_a_bad_pattern_is_answered_with_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (record,) = ask(capsys, tmp_path, pattern="(")
    assert "error" in record


@pytest.mark.parametrize(("limit", "is_more"), [(1, True), (2, True), (3, False), (4, False)])
def test_more_is_said_only_where_there_is_more(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, limit: int, is_more: bool
) -> None:
    (tmp_path / "a").write_text("hit\nhit\n")
    (tmp_path / "b").write_text("hit\n")
    for mode, pattern in (("grep", "hit"), ("find", "*")):
        (tmp_path / "c").write_text("x")
        *records, end = ask(capsys, tmp_path, mode=mode, pattern=pattern, limit=limit)
        assert end["end"]["is_more"] == is_more
        assert len(records) == min(limit, 3)


def test_what_is_passed_over_is_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "big").write_text("hit\n" * 1000)
    (tmp_path / "secret").write_text("hit\n")
    (tmp_path / "a").write_text("hit\n")
    *records, end = ask(capsys, tmp_path, deny=["secret"])
    assert [record["path"] for record in records] == ["a"]
    assert end["end"] == {**END, "hidden": 1, "large": ["big"]}


def test_paths_outside_the_workspace_are_absolute(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hit\n")
    record, _ = ask(capsys, tmp_path, workspace="/somewhere/else")
    assert record["path"] == str(tmp_path / "a")


@pytest.mark.parametrize("search_path", ["", ":", ".", "relative/bin", "/nonexistent", "/dev/null"])
def test_only_absolute_directories_of_the_path_are_looked_into(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    search_path: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    planted = tmp_path / "rg"
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/PWNED\n")
    planted.chmod(0o755)
    (tmp_path / "a").write_text("hit\n")
    assert ask(capsys, tmp_path, search_path=search_path)[0]["path"] == "a"
    assert not (tmp_path / "PWNED").exists()
