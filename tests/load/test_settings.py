"""Effective values and their sources, piece by piece."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import SpecError
from pi_batch.load.config import Config
from pi_batch.load.nodes import Fields, Source
from pi_batch.load.options import PlanOptions
from pi_batch.load.problems import Problems, Where
from pi_batch.load.settings import jobs_of, models_of, read_sources, repeat_of, settings_of, with_settings
from pi_batch.load.suite import Suite
from pi_batch.load.task import LoadedTask, load_task
from pi_batch.load.yaml import parse
from pi_batch.results import EffectiveValue
from pi_batch.spec import BudgetSpec, SuiteSpec

SOURCE = Source("a.yaml", Path("/a.yaml"), "", Path("/"))
CLI = EffectiveValue("fake/x", "cli")
ONE_JOB = EffectiveValue(1, "default")


def loaded(text: str, defaults: str | None = None) -> LoadedTask:
    found = Problems()
    own = parse(f"id: a\nprompt: x\n{text}", SOURCE, found)
    shared = parse(defaults, SOURCE, found) if defaults else None
    assert isinstance(own, Fields)
    assert shared is None or isinstance(shared, Fields)
    made = load_task(own, shared, None, Where(), varying=frozenset(), problems=found)
    found.raise_if_any()
    assert made is not None
    return made


def sources(**given: Any) -> Any:
    found = Problems()
    made = read_sources(PlanOptions(cwd=Path("/"), **given), found)
    found.raise_if_any()
    return made


def setting(name: str, text: str, defaults: str | None = None, **given: Any) -> EffectiveValue:
    return settings_of(loaded(text, defaults), CLI, ONE_JOB, sources(**given))[name]


@pytest.mark.parametrize(
    ("name", "text", "defaults", "expected"),
    [
        ("isolation", "", None, EffectiveValue("clone", "default")),
        ("isolation", "workspace: {isolation: copy}", None, EffectiveValue("copy", "spec")),
        ("isolation", "", "workspace: {isolation: copy}", EffectiveValue("copy", "suite")),
        (
            "isolation",
            "workspace: {isolation: none}",
            "workspace: {isolation: copy}",
            EffectiveValue("none", "spec"),
        ),
        ("verify_in", "workspace: {isolation: none}", None, EffectiveValue("workspace", "default")),
        ("verify_in", "", "verify_in: workspace", EffectiveValue("workspace", "suite")),
        ("attempts.verify", "attempts: {verify: 3}", "attempts: {verify: 2}", EffectiveValue(3, "spec")),
        ("budget.tool_calls", "", "budget: {tool_calls: 9}", EffectiveValue(9, "suite")),
        ("budget.cost_usd", "budget: {cost_usd: 0}", None, EffectiveValue(0, "spec")),
    ],
)
def test_a_value_and_its_source(name: str, text: str, defaults: str | None, expected: EffectiveValue) -> None:
    assert setting(name, text, defaults) == expected


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("max_turns", "turns"),
        ("max_tokens", "tokens"),
        ("max_cost_usd", "cost_usd"),
        ("max_wall_s", "wall_s"),
    ],
)
def test_each_flag_sets_its_limit(flag: str, name: str) -> None:
    given: dict[str, Any] = {flag: 3}
    found = setting(f"budget.{name}", f"budget: {{{name}: 7}}", **given)
    assert found == EffectiveValue(3, "cli")


def test_every_limit_is_recorded() -> None:
    made = settings_of(loaded(""), CLI, ONE_JOB, sources())
    assert {name for name in made if name.startswith("budget.")} == {
        f"budget.{name}" for name in BudgetSpec.__struct_fields__
    }


def test_models_in_the_order_of_precedence() -> None:
    from pi_batch.load.matrix import Matrix

    task, suite = loaded("model: fake/spec"), Suite("s", matrix=Matrix(("fake/m1", "fake/m2")))
    env = {"PI_BATCH_MODEL": "fake/env"}
    assert models_of(task, suite, sources(models=("fake/cli",))) == (EffectiveValue("fake/cli", "cli"),)
    assert [model.value for model in models_of(task, suite, sources())] == ["fake/m1", "fake/m2"]
    assert models_of(task, Suite("s"), sources(environ=env)) == (EffectiveValue("fake/spec", "spec"),)
    assert models_of(loaded(""), Suite("s"), sources(environ=env)) == (
        EffectiveValue("fake/env", "environment"),
    )
    assert models_of(loaded(""), Suite("s"), sources(config=Config(model="fake/c"))) == (
        EffectiveValue("fake/c", "config"),
    )
    assert models_of(loaded(""), Suite("s"), sources()) == ()


def test_jobs_of_several_suites() -> None:
    suites = [
        Suite("a", SuiteSpec(tasks=(), max_parallel=4)),
        Suite("b", SuiteSpec(tasks=(), max_parallel=2)),
    ]
    assert jobs_of(suites, sources()) == EffectiveValue(2, "suite")
    assert jobs_of([Suite("c")], sources()) == EffectiveValue(1, "default")
    assert jobs_of(suites, sources(jobs=8)) == EffectiveValue(8, "cli")


def test_the_spec_that_runs_has_the_effective_values() -> None:
    task = loaded("sandbox: none\nbudget: {turns: 9}\ntools: [read, read]")
    given = sources(max_turns=2, sandbox="auto")
    made = with_settings(task.spec, settings_of(task, CLI, ONE_JOB, given))
    assert (made.model, made.sandbox, made.budget.turns, made.verify_in) == ("fake/x", "auto", 2, "clean")
    assert made.tools == ("read",)
    assert task.spec.budget.turns == 9


def test_distrust_takes_away_what_could_do_harm_and_asks_for_a_sandbox() -> None:
    text = (
        "trust: untrusted\ntools: [read, write, edit, bash, grep]\n"
        "permissions: {network: true, env: [PATH, NPM_TOKEN], read: {deny: [x]}}"
    )
    task = loaded(text)
    made = with_settings(task.spec, settings_of(task, CLI, ONE_JOB, sources()))
    assert made.tools == ("read", "grep")
    assert made.permissions.network is False
    assert made.permissions.env == ("PATH",)
    assert made.permissions.read.deny == ("x",)
    assert made.workspace.setup_network is False
    assert made.sandbox_required


@pytest.mark.parametrize(
    ("written", "given", "expected"),
    [
        ("trusted", None, "trusted"),
        ("trusted", "untrusted", "untrusted"),
        ("untrusted", "trusted", "untrusted"),
    ],
)
def test_distrust_of_either_place_is_enough(written: str, given: str | None, expected: str) -> None:
    task = loaded(f"trust: {written}")
    assert settings_of(task, CLI, ONE_JOB, sources(trust=given))["trust"].value == expected


@pytest.mark.parametrize(
    ("written", "flag", "variable", "expected"),
    [
        (False, False, None, (False, "spec")),
        (False, True, None, (True, "cli")),
        (True, False, None, (True, "spec")),
        (False, False, "true", (True, "environment")),
        (True, False, "false", (True, "spec")),
    ],
)
def test_a_sandbox_that_anyone_requires_is_required(
    written: bool, flag: bool, variable: str | None, expected: tuple[bool, str]
) -> None:
    environ = {} if variable is None else {"PI_BATCH_SANDBOX_REQUIRED": variable}
    task = loaded(f"sandbox_required: {str(written).lower()}")
    found = settings_of(task, CLI, ONE_JOB, sources(sandbox_required=flag, environ=environ))[
        "sandbox_required"
    ]
    assert (found.value, found.source) == expected


@pytest.mark.parametrize(
    ("text", "defaults", "expected"),
    [
        ("", None, EffectiveValue("on", "default")),
        ("codemode: only", None, EffectiveValue("only", "spec")),
        ("", "codemode: off", EffectiveValue("off", "suite")),
        ("tools: [read, codemode]", None, EffectiveValue("on", "spec")),
        ("tools: [read]", None, EffectiveValue("off", "spec")),
        ("tools: [read]\ncodemode: only", None, EffectiveValue("only", "spec")),
        ("codemode: on", "tools: [read]", EffectiveValue("on", "spec")),
        ("tools: [read, codemode]", "codemode: off", EffectiveValue("on", "spec")),
        ("tools: [read]", "codemode: only", EffectiveValue("only", "suite")),
    ],
)
def test_how_scripts_are_used(text: str, defaults: str | None, expected: EffectiveValue) -> None:
    assert setting("codemode", text, defaults) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", EffectiveValue("only", "environment")),
        ("codemode: off", EffectiveValue("off", "spec")),
        ("tools: [read]", EffectiveValue("off", "spec")),
        ("tools: [read, codemode]", EffectiveValue("only", "environment")),
    ],
)
def test_the_environment_says_how_scripts_are_used_where_the_spec_leaves_it_open(
    text: str, expected: EffectiveValue
) -> None:
    assert setting("codemode", text, environ={"PI_BATCH_CODEMODE": "only"}) == expected


def test_a_spec_that_names_the_tool_keeps_it_whatever_the_environment_says() -> None:
    off = {"PI_BATCH_CODEMODE": "off"}
    assert setting("codemode", "tools: [codemode]", environ=off) == EffectiveValue("on", "spec")
    assert setting("codemode", "", environ=off) == EffectiveValue("off", "environment")


@pytest.mark.parametrize(("mode", "tools"), [("on", ("read", "codemode")), ("off", ("read",))])
def test_the_command_line_overrules_the_spec(mode: str, tools: tuple[str, ...]) -> None:
    for text in ("tools: [read]", "tools: [read, codemode]", "tools: [read, codemode]\ncodemode: only"):
        task = loaded(text)
        made = with_settings(task.spec, settings_of(task, CLI, ONE_JOB, sources(codemode=mode)))
        assert (made.codemode, made.tools) == (mode, tools)


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(SpecError, match=r"--codemode: got 'yes', need one of on, only, off"):
        sources(codemode="yes")
    with pytest.raises(SpecError, match=r"PI_BATCH_CODEMODE: got 'yes'"):
        sources(environ={"PI_BATCH_CODEMODE": "yes"})


LIMITS = {
    "turns": ("max_turns", 7),
    "tokens": ("max_tokens", 900),
    "cost_usd": ("max_cost_usd", 1.5),
    "wall_s": ("max_wall_s", 30.0),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_the_first_that_is_said(name: str) -> None:
    option, value = LIMITS[name]
    environ = {f"PI_BATCH_{option.upper()}": str(value)}
    fields: dict[str, Any] = {option: 3}
    config = Config(**fields)
    key, spec, suite = f"budget.{name}", f"budget: {{{name}: 5}}", f"budget: {{{name}: 6}}"
    given: dict[str, Any] = {"environ": environ, "config": config}
    assert setting(key, spec, suite, **given, **{option: 4}) == EffectiveValue(4, "cli")
    assert setting(key, spec, suite, **given) == EffectiveValue(5, "spec")
    assert setting(key, "", suite, **given) == EffectiveValue(6, "suite")
    assert setting(key, "", **given) == EffectiveValue(value, "environment")
    assert setting(key, "", config=config) == EffectiveValue(3, "config")
    assert setting(key, "").source == "default"


def test_a_limit_that_a_spec_lifts_stays_lifted() -> None:
    environ = {"PI_BATCH_MAX_TURNS": "7"}
    assert setting("budget.turns", "budget: {turns: null}", environ=environ) == EffectiveValue(None, "spec")


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("", {"environ": {"PI_BATCH_TRUST": "untrusted"}}, "untrusted by environment"),
        ("", {"environ": {"PI_BATCH_TRUST": "trusted"}}, "trusted by default"),
        ("", {"config": Config(trust="untrusted"), "trust": "trusted"}, "untrusted by config"),
        ("", {"environ": {"PI_BATCH_TRUST": "untrusted"}, "trust": "untrusted"}, "untrusted by cli"),
        ("trust: untrusted", {"environ": {"PI_BATCH_TRUST": "trusted"}}, "untrusted by spec"),
    ],
)
def test_distrust_of_any_place_is_enough(text: str, given: dict[str, Any], expected: str) -> None:
    found = setting("trust", text, **given)
    assert f"{found.value} by {found.source}" == expected


def test_how_often_a_task_runs_is_the_first_that_is_said() -> None:
    given: dict[str, Any] = {"environ": {"PI_BATCH_REPEAT": "4"}, "config": Config(repeat=5)}
    silent, own = (
        Suite("a", SuiteSpec(tasks=())),
        Suite("a", SuiteSpec(tasks=(), repeat=1), written=frozenset({"repeat"})),
    )
    assert repeat_of(own, sources(**given, repeat=3)) == 3
    assert repeat_of(own, sources(**given)) == 1
    assert repeat_of(silent, sources(**given)) == 4
    assert repeat_of(silent, sources(config=Config(repeat=5))) == 5
    assert repeat_of(silent, sources()) == 1
