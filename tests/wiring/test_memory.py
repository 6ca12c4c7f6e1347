"""state.json: locked, whole, mended, and refused where a newer version wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError, UsageError
from pi_batch.fold import Fold
from pi_batch.nights import Tried
from pi_batch.redact import Masker
from pi_batch.results import PlannedResult
from pi_batch.spec import PlannedTask, TaskSpec
from pi_batch.wiring.memory import BROKEN, FILE, Remembering, memory_held
from tests.publishing.runs import stream_of

TRIED = Tried("mend/mend", "d" * 64, "a" * 40, "failed", "why", "2026-12-01T02:00:00Z", "r1", 2)


def task(key: str = "mend") -> PlannedTask:
    return PlannedTask(
        PlannedResult(key, key, "", "s", "0", "m/m", key), TaskSpec(id=key, prompt="p"), "/", "m/m"
    )


def test_what_is_added_is_there_the_next_night(tmp_path: Path) -> None:
    state = tmp_path / "new" / "state"
    with memory_held(state) as memory:
        assert memory is not None
        assert memory.of(task()) is None
        memory.add(TRIED)
        assert json.loads((state / FILE).read_text())["version"] == 1
    with memory_held(state) as memory:
        assert memory is not None
        assert memory.of(task()) == TRIED
    assert sorted(path.name for path in state.iterdir()) == [".gitignore", ".lock", FILE]


def test_nothing_is_kept_where_nobody_asks_for_it() -> None:
    with memory_held(None) as memory:
        assert memory is None


def test_only_one_run_holds_it(tmp_path: Path) -> None:
    one, another = memory_held(tmp_path), memory_held(tmp_path)
    with one, pytest.raises(UsageError, match="in use, locked by process"), another:
        pass
    with memory_held(tmp_path) as memory:
        assert memory is not None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 1, "tasks": [{"name": 1}]}', '{"tasks": 3}', "\0"]
)
def test_a_file_that_cannot_be_read_is_kept_aside_and_said(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / FILE).write_text(content)
    with memory_held(tmp_path) as memory:
        assert memory is not None
        memory.add(TRIED)
    assert (tmp_path / BROKEN).read_text() == content
    (line,) = capsys.readouterr().err.rstrip("\n").split("\n")
    assert "kept as state.json.broken, and nothing is remembered" in line


def test_what_a_newer_version_wrote_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"version": 2}')
    with pytest.raises(UsageError, match=r"newer version of pi-batch \(format 2\)"), memory_held(tmp_path):
        pass
    assert (tmp_path / FILE).read_text() == '{"version": 2}'


def test_a_place_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(LogWriteError, match=r"--state .*: cannot be made"),
        memory_held(tmp_path / "file" / "x"),
    ):
        pass


def test_each_task_is_remembered_as_it_ends_and_its_reason_is_masked(tmp_path: Path) -> None:
    with memory_held(tmp_path) as memory:
        assert memory is not None
        fold = Fold()
        sink = Remembering(memory, fold, {"mend": task()}, "r1", Masker(["check passed"]))
        for record in stream_of("mend").records:
            fold.feed(record)
            sink.handle(record)
        sink.close()
    (known,) = json.loads((tmp_path / FILE).read_text())["tasks"]
    assert (known["name"], known["outcome"], known["run_id"]) == ("mend/mend", "passed", "r1")
    assert known["reason"] == "1 of 1 ***"
