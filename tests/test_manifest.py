"""The manifest: who makes which result, under which share of the budget, the same on every machine."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.expected import Expected, Took
from pi_batch.manifest import Shard, make_manifest, other_plan, read_manifest, task_digest, unlike
from tests.shards import manifest_of, plan_of


def test_a_shard_is_one_of_several_from_one() -> None:
    assert Shard.parse("2/4") == Shard(2, 4)
    assert str(Shard(2, 4)) == "2/4"


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "a/b", "-1/4", "2/4/6", "", "1/99999", "1/0", "¹/²"])
def test_what_is_no_shard_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"need I/N .* for example 2/4"):
        Shard.parse(text)


def test_every_result_is_in_one_shard_and_the_parts_have_all_of_them() -> None:
    plan = plan_of(*"abcde")
    manifest = make_manifest(plan, list("12345"), 2, Expected())
    parts = [manifest.part(plan, shard) for shard in (1, 2)]
    assert [task.planned.key for part in parts for task in part.tasks] == ["a", "c", "e", "b", "d"]
    assert manifest.keys_of(1) == ("a", "c", "e")


def test_shards_are_made_by_what_was_recorded() -> None:
    expected = Expected.of([Took("a", "fake/m", 100.0), *(Took(key, "fake/m", 30.0) for key in "bcd")])
    manifest = make_manifest(plan_of(*"abcd"), list("1234"), 2, expected)
    assert [manifest.keys_of(shard) for shard in (1, 2)] == [("a",), ("b", "c", "d")]
    assert [manifest.expected_s(shard) for shard in (1, 2)] == [100.0, 90.0]


def test_the_suites_budget_is_dealt_out_by_what_tasks_may_use() -> None:
    budget = {"tokens": 1001, "cost_usd": 3.0, "turns": 10, "wall_s": 60.0}
    manifest = manifest_of(*"abc", budget=budget)
    first, second = manifest.budgets
    assert (first.tokens, second.tokens) == (667, 334)
    assert first.cost_usd == pytest.approx(2.0)
    assert (first.turns, second.turns) == (6, 4)
    assert (first.wall_s, second.wall_s) == (60.0, 60.0)
    assert (first.tool_calls, second.tool_calls) == (None, None)


@given(st.integers(1, 10**9), st.integers(1, 12), st.integers(1, 9))
def test_shares_of_whole_numbers_come_to_the_limit_or_are_refused(limit: int, tasks: int, count: int) -> None:
    try:
        manifest = manifest_of(*(f"t{n}" for n in range(tasks)), shards=count, budget={"tokens": limit})
    except UsageError as error:
        assert "is too small for" in str(error)  # noqa: PT017
        return
    assert sum(budget.tokens or 0 for budget in manifest.budgets) == limit
    shards_with_tasks = {task.shard for task in manifest.tasks}
    assert all((manifest.budgets[shard - 1].tokens or 0) >= 1 for shard in shards_with_tasks)


def test_a_budget_too_small_for_its_shards_is_refused_before_anything_runs() -> None:
    with pytest.raises(UsageError, match=r"budget.turns of 2 is too small for 3 shards"):
        manifest_of(*"abc", shards=3, budget={"turns": 2})


def test_a_shard_without_tasks_has_no_limit_that_could_not_be_said() -> None:
    plan = plan_of("a", budget={"tokens": 5000, "cost_usd": 1.0})
    part = make_manifest(plan, ["1"], 3, Expected()).part(plan, 3)
    assert (part.tasks, part.budget.tokens, part.budget.cost_usd) == ((), None, 0.0)


def test_a_manifest_comes_back_as_it_was_written() -> None:
    manifest = manifest_of(*"abc", budget={"tokens": 10_000})
    assert read_manifest(manifest.to_text().encode(), "m.json") == manifest
    assert read_manifest(manifest.to_text().encode(), "m.json").digest == manifest.digest


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"shards": 0},
        {"shards": 3},
        {"budgets": []},
        {"tasks": "none"},
        {"tasks": [{"planned": {}}]},
    ],
)
def test_what_is_no_manifest_is_one_line(change: dict[str, object]) -> None:
    value = {**json.loads(manifest_of(*"ab").to_text()), **change}
    with pytest.raises(UsageError, match=r"^m\.json: is no manifest") as caught:
        read_manifest(json.dumps(value).encode(), "m.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["../../etc", "/etc", "", ".hidden", "a/b", "a\0"])
def test_a_key_that_would_lead_out_of_a_run_directory_is_refused(key: str) -> None:
    value = json.loads(manifest_of("a").to_text())
    value["tasks"][0]["planned"]["key"] = key
    with pytest.raises(UsageError, match="is no manifest"):
        read_manifest(json.dumps(value).encode(), "m.json")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_one_line(text: bytes) -> None:
    with pytest.raises(UsageError, match=r"^m\.json: is no manifest"):
        read_manifest(text, "m.json")


def test_what_differs_between_two_plans_is_named() -> None:
    mine = manifest_of(*"abc")
    changed = replace(mine, tasks=(replace(mine.tasks[0], digest="x"), *mine.tasks[1:]))
    assert other_plan(mine, mine) == unlike(mine, mine) == ""
    assert other_plan(mine, manifest_of(*"ab")) == "does not plan c"
    assert other_plan(mine, manifest_of(*"abcd")) == "plans d, which is foreign there"
    assert other_plan(mine, changed).startswith("has another digest of a:")
    assert other_plan(mine, replace(mine, pi_batch_version="9")).startswith("was planned by pi-batch 9, not ")
    assert other_plan(mine, manifest_of(*"abc", budget={"turns": 9})) == "has another budget for the suite"


def test_the_same_plan_dealt_out_otherwise_is_another_manifest() -> None:
    mine = manifest_of(*"abc")
    assert unlike(mine, manifest_of(*"abc", shards=3)) == "is in 3 shards, not in 2"
    other = replace(mine, tasks=tuple(replace(task, shard=3 - task.shard) for task in mine.tasks))
    assert unlike(mine, other).startswith("deals its tasks out otherwise")


def test_a_digest_changes_with_all_that_is_asked_and_with_nothing_else() -> None:
    assert task_digest({"a": 1, "b": 2}) == task_digest({"b": 2, "a": 1})
    assert task_digest({"a": 1}) != task_digest({"a": 2})
    assert len(task_digest(["\ud800"])) == 64
