"""A plan in parts: shown, kept, and one part taken of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.manifest import FILE
from pi_batch.spec import Plan
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.sharding import load_manifest, part_of, save_manifest, show_shards
from tests.shards import plan_of


def keys(plan: Plan) -> list[str]:
    return [task.planned.key for task in plan.tasks]


def test_without_a_shard_the_plan_is_whole(tmp_path: Path) -> None:
    plan = plan_of(*"abc")
    part = part_of(plan, RunOptions(), tmp_path)
    assert part.plan is plan
    assert part.manifest is None


def test_every_machine_takes_the_same_part_of_the_same_plan(tmp_path: Path) -> None:
    plan = plan_of(*"abc", budget={"tokens": 9000})
    parts = [part_of(plan, RunOptions(shard=f"{n}/2"), tmp_path) for n in (1, 2)]
    assert [keys(part.plan) for part in parts] == [["a", "c"], ["b"]]
    assert [part.plan.budget.tokens for part in parts] == [6000, 3000]
    assert parts[0].manifest == parts[1].manifest


def test_a_manifest_made_elsewhere_says_who_has_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(*"abcd")
    ran = tmp_path / "ran"
    ran.mkdir()
    took = [("a", 90.0), *((key, 30.0) for key in "bcd")]
    results = [{"task_id": key, "model": "fake/m", "outcome": "passed", "working_s": s} for key, s in took]
    (ran / "run.json").write_text(json.dumps({"results": results}), encoding="utf-8")
    path = tmp_path / "sub" / "m.json"
    assert show_shards(plan, 2, [ran], path, as_json=False) == 0
    assert (
        capsys.readouterr().out == "shard 1/2: 1 result, 90 s expected\nshard 2/2: 3 results, 90 s expected\n"
    )
    part = part_of(plan, RunOptions(shard="2/2", manifest=path), tmp_path)
    assert keys(part.plan) == ["b", "c", "d"]
    with pytest.raises(UsageError, match="--shard 2/3: the manifest has 2 shards"):
        part_of(plan, RunOptions(shard="2/3", manifest=path), tmp_path)


def test_a_manifest_of_another_plan_is_refused(tmp_path: Path) -> None:
    made = part_of(plan_of(*"ab"), RunOptions(shard="1/2"), tmp_path).manifest
    assert made is not None
    save_manifest(tmp_path / "m.json", made)
    options = RunOptions(shard="1/2", manifest=tmp_path / "m.json")
    with pytest.raises(UsageError, match=r"m\.json: is not of this plan: what is here does not plan b"):
        part_of(plan_of("a"), options, tmp_path)
    with pytest.raises(UsageError, match="has another digest of a"):
        part_of(plan_of(*"ab", prompt="something else"), options, tmp_path)


def test_a_run_that_is_gone_on_with_keeps_to_its_own_manifest(tmp_path: Path) -> None:
    made = part_of(plan_of(*"abcd"), RunOptions(shard="1/2"), tmp_path).manifest
    assert made is not None
    save_manifest(tmp_path / FILE, made)
    part = part_of(plan_of(*"abcd"), RunOptions(shard="2/2"), tmp_path, run_dir=tmp_path)
    assert part.manifest == load_manifest(tmp_path / FILE)


def test_budgets_are_shown_and_json_is_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_of(*"ab", budget={"tokens": 9000, "cost_usd": 1.5})
    show_shards(plan, 2, [], None, as_json=False)
    line = capsys.readouterr().out.split("\n")[0]
    assert line == "shard 1/2: 1 result, 1,800 s expected, at most 4,500 tokens, 0.75 usd"
    show_shards(plan, 2, [], None, as_json=True)
    assert json.loads(capsys.readouterr().out)["shards"] == 2


def test_what_makes_no_sense_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--manifest: needs --shard I/N"):
        part_of(plan_of("a"), RunOptions(manifest=tmp_path), tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        part_of(plan_of("a"), RunOptions(shard="1/1", manifest=tmp_path / "gone"), tmp_path)
    with pytest.raises(UsageError, match=r"--durations .*: no run\.json there"):
        show_shards(plan_of("a"), 2, [tmp_path], None, as_json=False)
