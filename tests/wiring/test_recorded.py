"""How long earlier runs took, read from what they left."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pi_batch.wiring.recorded import NEWEST, expected_from, newest_runs


def result(task_id: str, **fields: Any) -> dict[str, Any]:
    return {"task_id": task_id, "model": "a/m", "outcome": "passed", "working_s": 2.0, **fields}


def run_with(directory: Path, *results: Any) -> Path:
    directory.mkdir(parents=True)
    (directory / "run.json").write_text(json.dumps({"results": results}), encoding="utf-8")
    return directory


def test_scored_trials_of_several_runs_are_averaged(tmp_path: Path) -> None:
    one = run_with(tmp_path / "1", result("a"), result("b", outcome="failed", working_s=8))
    two = run_with(tmp_path / "2", result("a", working_s=4.0), result("c", outcome="error"))
    assert dict(expected_from([one, two]).by_task) == {"a": 3.0, "b": 8.0}


def test_what_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    odd = run_with(tmp_path / "odd", result("a", working_s="long"), result("b", working_s=-1.0), None, 7)
    torn = run_with(tmp_path / "torn")
    (torn / "run.json").write_text('{"results": [', encoding="utf-8")
    assert dict(expected_from([odd, torn, tmp_path / "gone"]).by_task) == {}


def test_the_newest_runs_are_looked_at_and_not_the_one_that_begins(tmp_path: Path) -> None:
    for number in range(NEWEST + 3):
        report = run_with(tmp_path / f"r{number}") / "run.json"
        os.utime(report, (1000 + number, 1000 + number))
    (tmp_path / "no-run").mkdir()
    found = newest_runs(tmp_path, besides=tmp_path / "r7")
    assert [path.name for path in found] == ["r6", "r5", "r4", "r3", "r2"]
    assert newest_runs(tmp_path / "gone", besides=tmp_path) == ()
