"""The models behind the YAML: frozen, closed, with the defaults that the docs promise."""

from __future__ import annotations

import pytest
from msgspec import ValidationError, convert

from pi_batch import spec
from pi_batch.errors import UsageError
from pi_batch.field_texts import field_texts
from pi_batch.spec import (
    ALL_TOOLS,
    BudgetSpec,
    Check,
    InputSpec,
    Plan,
    SpecModel,
    SuiteBudgetSpec,
    SuiteSpec,
    TaskSpec,
    to_json,
)


def models(model: type[SpecModel] = SpecModel) -> list[type[SpecModel]]:
    return [known for known in model.__subclasses__() if known.__module__ == "pi_batch.spec"]


def test_a_task_has_the_defaults_of_the_contract() -> None:
    made = TaskSpec(id="a", prompt="x")
    assert made.budget == BudgetSpec(turns=50, tokens=None, cost_usd=None, wall_s=1800.0, tool_calls=None)
    assert made.tools == ALL_TOOLS
    assert (made.workspace.path, made.workspace.isolation) == (".", "clone")
    assert made.workspace.include_uncommitted
    assert made.permissions.network is False
    assert (made.sandbox, made.sandbox_required, made.trust) == ("auto", False, "trusted")
    assert made.attempts.verify == 1
    assert made.verify_in is None
    assert made.context_files


def test_a_suites_budget_is_unlimited() -> None:
    assert all(limit is None for limit in to_json(SuiteBudgetSpec()).values())
    assert set(SuiteBudgetSpec.__struct_fields__) == set(BudgetSpec.__struct_fields__)


def test_specs_are_frozen() -> None:
    made = TaskSpec(id="a", prompt="x")
    with pytest.raises(AttributeError, match="immutable"):
        made.prompt = "y"  # type: ignore[misc]


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_unknown_keys_are_refused_everywhere(model: type[SpecModel]) -> None:
    with pytest.raises(ValidationError, match="nothing_of_ours"):
        convert({"nothing_of_ours": 1}, model)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_field_says_what_it_is(model: type[SpecModel]) -> None:
    assert model.__doc__
    texts = field_texts(spec)[model.__name__]
    assert [name for name in model.__struct_fields__ if not texts.get(name)] == []


def test_types_are_strict() -> None:
    with pytest.raises(ValidationError):
        convert({"turns": "3"}, BudgetSpec)
    with pytest.raises(ValidationError):
        convert({"name": "a", "run": 3}, Check)


def test_an_input_is_a_trusted_string_until_it_says_otherwise() -> None:
    assert (InputSpec().type, InputSpec().trust, InputSpec().required) == ("string", "trusted", None)


def test_task_and_suite_share_no_keys_but_these() -> None:
    assert set(TaskSpec.__struct_fields__) & set(SuiteSpec.__struct_fields__) == {
        "version",
        "title",
        "budget",
    }


def test_a_plan_runs_one_task_at_a_time() -> None:
    assert Plan((), SuiteBudgetSpec()).max_parallel == 1


def test_a_plan_whose_repositories_have_limits_needs_one_process() -> None:
    free = Plan((), SuiteBudgetSpec(), 1, {"s/r": SuiteBudgetSpec()})
    free.need_one_process("shards")
    limited = Plan((), SuiteBudgetSpec(), 1, {"s/r": SuiteBudgetSpec(cost_usd=0.0)})
    with pytest.raises(UsageError, match="shards: repo_budget cannot be kept over several"):
        limited.need_one_process("shards")
