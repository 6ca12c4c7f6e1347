"""How long trials are expected to take, and how shards are made of that."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_batch.expected import UNLIMITED_S, Expected, Took, shards
from pi_batch.results import PlannedResult
from pi_batch.spec import BudgetSpec, PlannedTask, TaskSpec


def task(name: str, model: str = "a/m", wall_s: float | None = 100.0) -> PlannedTask:
    spec = TaskSpec(id=name, prompt="go", budget=BudgetSpec(wall_s=wall_s))
    return PlannedTask(PlannedResult(f"{name}--{model}", name, "", "s.yaml", "", model), spec, "/", model)


def test_without_records_a_tasks_limit_of_time_is_what_it_may_take() -> None:
    assert Expected().seconds(task("a", wall_s=7.0)) == 7.0
    assert Expected().seconds(task("a", wall_s=None)) == UNLIMITED_S


def test_the_mean_of_the_same_model_counts_before_the_mean_of_all() -> None:
    expected = Expected.of([Took("a", "a/m", 2.0), Took("a", "a/m", 4.0), Took("a", "b/m", 9.0)])
    assert expected.seconds(task("a", "a/m")) == 3.0
    assert expected.seconds(task("a", "c/m")) == 5.0
    assert expected.seconds(task("b")) == 100.0


def test_the_longest_is_first_and_equal_ones_stay_in_the_plans_order() -> None:
    expected = Expected.of([Took("short", "a/m", 1.0), Took("long", "a/m", 900.0)])
    tasks = [task("short"), task("x"), task("long"), task("y")]
    assert [one.planned.task_id for one in expected.longest_first(tasks)] == ["long", "x", "y", "short"]


def test_shards_come_out_about_alike() -> None:
    assert shards([5, 4, 3, 3, 3], 2) == [1, 2, 2, 1, 2]


def test_tasks_that_cost_nothing_are_spread_too() -> None:
    assert shards([0, 0, 0, 0], 2) == [1, 2, 1, 2]


@given(st.lists(st.floats(0, 1000), max_size=40), st.integers(1, 9))
def test_every_task_is_in_one_shard_and_no_shard_is_far_above_the_mean(
    costs: list[float], count: int
) -> None:
    chosen = shards(costs, count)
    assert len(chosen) == len(costs)
    assert set(chosen) <= set(range(1, count + 1))
    loads = [sum(c for c, s in zip(costs, chosen, strict=True) if s == one) for one in range(1, count + 1)]
    assert max(loads) <= sum(costs) / count + max(costs, default=0.0) + 1e-6
