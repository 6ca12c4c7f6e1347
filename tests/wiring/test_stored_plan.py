"""plan.json: what a run was asked for, and what has changed since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.redact import Masker
from pi_batch.spec import Plan, SuiteBudgetSpec
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.stored_plan import (
    Origin,
    StoredPlan,
    Storing,
    differences,
    listed,
    read_plan,
    write_plan,
)
from tests.engine.tasks import planned

CHECK = {"name": "c", "run": "true"}


def stored(
    *keys: str,
    options: RunOptions | None = None,
    secrets: tuple[str, ...] = (),
    suite: SuiteBudgetSpec | None = None,
    **spec: Any,
) -> StoredPlan:
    tasks = tuple(planned(key, Path("/s"), **spec) for key in keys or ("a",))
    environ = {"PI_BATCH_MODEL": "fake/m", "OPENAI_API_KEY": "not-to-be-kept"}
    storing = Storing(
        "r1", Path("/w"), Origin("run", ("a.yaml",)), options or RunOptions(), environ, Masker(secrets)
    )
    return storing.of(Plan(tasks, suite or SuiteBudgetSpec()), Path("/tmp/pi-batch-x"))


def shown(before: StoredPlan, now: StoredPlan) -> list[str]:
    return [str(one) for one in differences(before, now)]


def test_a_plan_comes_back_as_it_was_written(tmp_path: Path) -> None:
    plan = stored("a", "b", options=RunOptions(models=("m/n",), inputs={"x": "1"}, max_turns=3))
    write_plan(tmp_path, plan)
    assert read_plan(tmp_path) == plan
    assert read_plan(tmp_path / "nowhere") is None


def test_keys_of_the_environment_are_not_kept(tmp_path: Path) -> None:
    write_plan(tmp_path, stored())
    content = (tmp_path / "plan.json").read_text()
    assert "not-to-be-kept" not in content
    assert '"PI_BATCH_MODEL": "fake/m"' in content


def test_secret_values_are_masked_and_that_is_known() -> None:
    plan = stored(options=RunOptions(inputs={"x": "s3cr3t-value"}), secrets=("s3cr3t-value",))
    assert plan.is_masked
    assert plan.options["inputs"] == {"x": "***"}
    in_spec = stored(secrets=("s3cr3t-value",), prompt="say s3cr3t-value")
    assert not in_spec.is_masked
    assert "s3cr3t" not in json.dumps(dict(in_spec.tasks[0].spec))


def test_the_options_of_the_plan_come_back_beside_those_of_a_call() -> None:
    plan = stored(options=RunOptions(models=("m/n",), filters=("x*",), repeat=2, quiet=True))
    options = plan.with_plan_options(RunOptions(events=True, rerun=("all",)))
    assert (options.models, options.filters, options.repeat) == (("m/n",), ("x*",), 2)
    assert (options.events, options.quiet, options.rerun) == (True, False, ("all",))


def test_a_plan_that_is_the_same_differs_in_nothing() -> None:
    assert differences(stored("a", "b"), stored("a", "b")) == ()


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"budget": {"turns": 3}}, {"budget": {"turns": 4}}, "a: budget.turns: was 3, now 4"),
        ({"prompt": "x"}, {"prompt": "y"}, 'a: prompt: was "x", now "y"'),
        ({}, {"verify": [CHECK]}, "a: verify: was [], now ["),
        (
            {"verify": [CHECK]},
            {"verify": [{**CHECK, "run": "false"}]},
            'a: verify[0].run: was "true", now "false"',
        ),
        ({}, {"permissions": {"network": True}}, "a: permissions.network: was false, now true"),
    ],
)
def test_a_difference_is_named_by_its_key(before: Any, now: Any, said: str) -> None:
    (line,) = shown(stored(**before), stored(**now))
    assert line.startswith(said)


def test_tasks_that_come_and_go_are_named() -> None:
    assert shown(stored("a", "b"), stored("b", "c")) == [
        "a: is not in the plan any more",
        "c: is new in the plan",
    ]


def test_the_suites_budget_is_part_of_the_plan() -> None:
    now = stored(suite=SuiteBudgetSpec(cost_usd=2.0))
    assert shown(stored(), now) == ["suite budget.cost_usd: was null, now 2.0"]


def test_declarations_of_tools_are_compared_by_tool() -> None:
    plan = stored(tools=["read", "bash"])
    (task,) = plan.tasks
    assert {"read", "bash"} <= set(task.declarations)
    other = replace(task, declarations={**task.declarations, "read": "0", "new": "1"})
    assert shown(plan, replace(plan, tasks=(other,))) == [
        "a: declaration of tool.new: is new",
        "a: declaration of tool.read: changed",
    ]


@pytest.mark.parametrize(
    ("now", "are_checks"),
    [
        ({"verify": [CHECK]}, True),
        ({"protect": ["x"]}, True),
        ({"verify_in": "workspace"}, True),
        ({"output": {"files": ["x"]}}, True),
        ({"prompt": "y"}, False),
        ({"attempts": {"verify": 2}}, False),
    ],
)
def test_what_only_judges_is_told_apart(now: dict[str, Any], are_checks: bool) -> None:
    found = differences(stored(), stored(**now))
    assert all(one.is_of_checks for one in found) == are_checks


def test_many_differences_are_listed_in_part() -> None:
    found = differences(stored(*map(str, range(9))), stored(*map(str, range(20, 29))))
    text = listed(found)
    assert text.count("\n") == 11
    assert text.endswith("and 8 more")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 99}', '{"version": 1}'])
def test_a_plan_that_cannot_be_read_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(UsageError, match=r"plan\.json") as caught:
        read_plan(tmp_path)
    assert "\n" not in str(caught.value)
