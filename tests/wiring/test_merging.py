"""`merge` on directories: one run directory of several, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.wiring.merging import merge
from pi_batch.wiring.run_lock import held
from tests.shards import manifest_of, ran, write_run

FOUR = manifest_of(*"abcd")
NOTHING: dict[str, Path | None] = {}


@pytest.fixture
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    return [write_run(tmp_path / f"s{shard}", FOUR, shard, ran(FOUR, shard)) for shard in (1, 2)]


def content(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def test_a_merged_directory_holds_reports_log_and_every_tasks_files(
    shards: list[Path], tmp_path: Path
) -> None:
    junit = tmp_path / "out" / "j.xml"
    assert merge(shards, Path("m"), {"junit": junit, "markdown": None}) == 0
    report = json.loads((tmp_path / "m" / "run.json").read_text(encoding="utf-8"))
    assert [result["key"] for result in report["results"]] == ["a", "b", "c", "d"]
    assert (tmp_path / "m/tasks/b/answer.md").read_text(encoding="utf-8") == "b of s2\n"
    assert junit.read_bytes() == (tmp_path / "m" / "junit.xml").read_bytes()


def test_merging_again_gives_the_same_bytes(shards: list[Path], tmp_path: Path) -> None:
    merge(shards, Path("m"), NOTHING)
    first = content(tmp_path / "m")
    merge([*reversed(shards), Path("m")], Path("m"), NOTHING)
    assert content(tmp_path / "m") == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "s1", "s2"]


def test_the_newest_attempts_files_are_taken(shards: list[Path], tmp_path: Path) -> None:
    again = write_run(tmp_path / "s2-again", FOUR, 2, ran(FOUR, 2, day=2))
    merge([*shards, again], Path("m"), NOTHING)
    assert (tmp_path / "m/tasks/b/answer.md").read_text(encoding="utf-8") == "b of s2-again\n"


def test_a_missing_shard_is_named_and_ends_in_three(
    shards: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert merge(shards[:1], Path("m"), NOTHING) == 3
    said = capsys.readouterr()
    assert said.err == "pi-batch: shard 2/2 is missing: no run directory was given: b, d\n"
    assert "2 not run" in said.out


def test_every_refusal_is_a_line_and_nothing_is_written(shards: list[Path], tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", manifest_of(*"abc"), 1, ran(manifest_of(*"abc"), 1))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as caught:
        merge([*shards, other, Path("empty"), Path("gone")], Path("m"), NOTHING)
    assert str(caught.value).split("\n") == [
        "empty: no events.jsonl there: name the directory of a run",
        "gone: no events.jsonl there: name the directory of a run",
        f"{other}: is not of the same plan as {shards[0]}: it does not plan d",
    ]
    assert not (tmp_path / "m").exists()


def test_a_run_without_a_shard_is_refused(shards: list[Path]) -> None:
    (shards[0] / "manifest.json").unlink()
    with pytest.raises(UsageError, match="only runs with --shard can be merged"):
        merge(shards, None, NOTHING)


def test_a_shard_that_still_runs_is_refused(shards: list[Path]) -> None:
    with held(shards[1]), pytest.raises(UsageError, match="s2: is still running"):
        merge(shards, Path("m"), NOTHING)


def test_a_shard_that_went_on_with_another_spec_is_refused(shards: list[Path]) -> None:
    plan = json.loads((shards[0] / "plan.json").read_text(encoding="utf-8"))
    changed = {"key": "a", "model": "m/m", "spec_sha256": "", "spec": {}, "declarations": {}, "digest": "x"}
    (shards[0] / "plan.json").write_text(json.dumps({**plan, "tasks": [changed]}), encoding="utf-8")
    with pytest.raises(UsageError, match="s1: a was run with another spec than the manifest's"):
        merge(shards, Path("m"), NOTHING)


def test_a_log_that_is_damaged_inside_is_refused(shards: list[Path]) -> None:
    log = shards[0] / "events.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"seq":3', b'"seq":x'))
    with pytest.raises(UsageError, match="damaged event log"):
        merge(shards, Path("m"), NOTHING)


@pytest.mark.parametrize("occupied", ["plan.json", "notes.txt"])
def test_a_directory_that_holds_something_else_is_left_alone(
    shards: list[Path], tmp_path: Path, occupied: str
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / occupied).write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="name a new directory"):
        merge(shards, Path("m"), NOTHING)
    assert [path.name for path in (tmp_path / "m").iterdir()] == [occupied]


def test_links_in_a_run_directory_are_not_followed(shards: list[Path], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s", encoding="utf-8")
    (shards[0] / "tasks/a/link").symlink_to(secret)
    merge(shards, Path("m"), NOTHING)
    assert sorted(path.name for path in (tmp_path / "m/tasks/a").iterdir()) == ["answer.md"]


def test_without_output_the_whole_goes_where_runs_go(shards: list[Path], tmp_path: Path) -> None:
    assert merge(shards, None, NOTHING) == 0
    (run,) = (tmp_path / ".pi-batch/runs").iterdir()
    assert (run / "run.json").is_file()
