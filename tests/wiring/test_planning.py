"""Flags, environment and config file to a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.planning import make_adhoc_plan, make_plan
from pi_batch.wiring.surroundings import Surroundings


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    """A directory with a spec."""
    (tmp_path / "task.yaml").write_text("prompt: Go.\nbudget: {turns: 5}\n", encoding="utf-8")
    return tmp_path


def test_the_environment_names_the_model_where_nobody_else_does(cwd: Path) -> None:
    around = Surroundings(cwd, {"PI_BATCH_MODEL": "openai/from-environment", "PI_BATCH_JOBS": "3"})
    plan = make_plan(["task.yaml"], RunOptions(), around)
    (task,) = plan.tasks
    assert (task.model, task.settings["model"].source) == ("openai/from-environment", "environment")
    named = make_plan(["task.yaml"], RunOptions(models=("openai/named",)), around)
    assert named.tasks[0].model == "openai/named"


def test_flags_outrank_the_spec(cwd: Path) -> None:
    options = RunOptions(
        models=("openai/x",), max_turns=9, max_cost_usd=0.5, max_wall_s=60.0, max_tokens=1000
    )
    (task,) = make_plan(["task.yaml"], options, Surroundings(cwd, {})).tasks
    budget = task.spec.budget
    assert (budget.turns, budget.cost_usd, budget.wall_s, budget.tokens) == (9, 0.5, 60.0, 1000)
    assert task.settings["budget.turns"].source == "cli"


def test_variables_that_are_not_ours_are_not_looked_at(cwd: Path) -> None:
    around = Surroundings(cwd, {"PI_BATCH_MODEL": "openai/x", "JOBS": "no number", "PIBATCH_JOBS": "x"})
    assert len(make_plan(["task.yaml"], RunOptions(), around).tasks) == 1


def test_a_wrong_variable_is_named(cwd: Path) -> None:
    around = Surroundings(cwd, {"PI_BATCH_MODEL": "openai/x", "PI_BATCH_JOBS": "many"})
    with pytest.raises(UsageError, match="PI_BATCH_JOBS: got 'many'"):
        make_plan(["task.yaml"], RunOptions(), around)


def test_one_prompt_is_a_plan_of_one_task_in_place(cwd: Path) -> None:
    plan = make_adhoc_plan("Say {{ hi }}.", RunOptions(models=("openai/x",)), Surroundings(cwd, {}))
    (task,) = plan.tasks
    assert (task.spec.prompt, task.spec.workspace.isolation, task.spec_dir) == (
        "Say {{ hi }}.",
        "none",
        str(cwd),
    )
