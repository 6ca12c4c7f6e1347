"""The plan: which results, in which order, with which model, key and settings."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pi_batch.errors import EmptySelection, SpecError, UsageError
from pi_batch.load.config import Config
from pi_batch.load.plan import adhoc_plan, check_specs, load_plan
from pi_batch.load.variants import UNNAMED_MODEL
from pi_batch.results import EffectiveValue
from pi_batch.spec import Plan
from tests.load.loading import options, plan, problem, problems, task, write


def keys(made: Plan) -> list[str]:
    return [planned.planned.key for planned in made.tasks]


# --- models ---------------------------------------------------------------------------------------


def test_the_command_lines_models_each_make_a_result(tmp_path: Path) -> None:
    made = plan(tmp_path, "prompt: x\nmodel: fake/spec\n", models=("fake/a", "fake/b:high", "fake/a"))
    assert [planned.model for planned in made.tasks] == ["fake/a", "fake/b:high"]
    assert keys(made) == ["a--fake-a", "a--fake-b-high"]
    assert all(planned.planned.shows_model for planned in made.tasks)
    assert [planned.spec.model for planned in made.tasks] == ["fake/a", "fake/b:high"]


def test_a_single_result_has_the_id_as_its_key(tmp_path: Path) -> None:
    made = task(tmp_path, "prompt: x\n")
    assert made.planned.key == "a"
    assert not made.planned.shows_model
    assert not made.planned.shows_repeat


def test_tasks_with_a_model_each_show_it_and_need_it_not_in_their_keys(tmp_path: Path) -> None:
    made = plan(
        tmp_path, {"a.yaml": "prompt: x\nmodel: fake/a\n", "b.yaml": "prompt: x\nmodel: fake/b\n"}, models=()
    )
    assert keys(made) == ["a", "b"]
    assert all(planned.planned.shows_model for planned in made.tasks)


@pytest.mark.parametrize(
    ("text", "given", "model", "source"),
    [
        ("model: fake/spec", {"models": ("fake/cli",)}, "fake/cli", "cli"),
        ("model: fake/spec", {}, "fake/spec", "spec"),
        ("title: x", {}, "fake/env", "environment"),
        ("title: x", {"environ": {}}, "fake/config", "config"),
        ("title: x", {"environ": {"PI_BATCH_MODEL": " "}}, "fake/config", "config"),
    ],
)
def test_precedence_of_the_model(
    tmp_path: Path, text: str, given: dict[str, object], model: str, source: str
) -> None:
    usual = {"models": (), "environ": {"PI_BATCH_MODEL": "fake/env"}, "config": Config(model="fake/config")}
    made = task(tmp_path, f"prompt: y\n{text}\n", **(usual | given))
    assert made.settings["model"] == EffectiveValue(model, source)
    assert made.model == model


def test_a_suites_default_model_stands_below_the_tasks_own(tmp_path: Path) -> None:
    text = "defaults: {model: fake/suite}\ntasks: [{id: a, prompt: x}, {id: b, prompt: x, model: fake/own}]\n"
    made = plan(tmp_path, text, models=(), environ={"PI_BATCH_MODEL": "fake/env"})
    assert [planned.settings["model"] for planned in made.tasks] == [
        EffectiveValue("fake/suite", "suite"),
        EffectiveValue("fake/own", "spec"),
    ]


def test_without_a_model_the_message_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        plan(tmp_path, "prompt: x\n", models=(), providers_with_keys=("anthropic", "openai"))
    assert not isinstance(caught.value, SpecError)
    assert caught.value.exit_code == 2
    assert str(caught.value) == (
        "no model: name one with -m PROVIDER/MODEL, model: in the spec, PI_BATCH_MODEL, or model in "
        "[tool.pi-batch]; providers whose key is set: anthropic, openai; replay/SESSION.jsonl "
        "plays a recording "
        "and needs no key"
    )


def test_without_any_key_the_message_says_so(tmp_path: Path) -> None:
    files = {"a.yaml": "prompt: x\nmodel: fake/a\n", "b.yaml": "prompt: x\n"}
    with pytest.raises(
        UsageError, match=r"^no model for task 'b': name one .*; no provider's key is set; replay/"
    ):
        plan(tmp_path, files, models=())


def test_spec_mistakes_come_before_a_missing_model(tmp_path: Path) -> None:
    assert problem(tmp_path, "promt: x\nprompt: y\n", models=()).startswith("a.yaml:1: promt: ")


def test_a_recording_is_a_model(tmp_path: Path) -> None:
    made = task(tmp_path, "prompt: x\n", models=("replay/some dir/session one.jsonl",))
    assert made.model == "replay/some dir/session one.jsonl"
    many = plan(tmp_path, {}, "a.yaml", models=("replay//abs/x.jsonl", "replay/../y.jsonl"))
    assert keys(many) == ["a--replay-abs-x.jsonl", "a--replay-..-y.jsonl"]


def test_a_wrong_model_of_the_command_line_is_one_line(tmp_path: Path) -> None:
    line = problem(tmp_path, "prompt: x\n", models=("gpt-5",))
    assert line == "-m gpt-5: got 'gpt-5', need provider/model, e.g. 'openai/gpt-4.1'"


# --- settings -------------------------------------------------------------------------------------


def test_every_setting_says_where_it_came_from(tmp_path: Path) -> None:
    made = task(
        tmp_path,
        """
        prompt: x
        budget: {turns: 3, tokens: null}
        attempts: {verify: 2}
        workspace: {isolation: copy}
        """,
        max_wall_s=5.0,
        jobs=4,
    )
    assert made.settings == {
        "model": EffectiveValue("fake/model", "cli"),
        "sandbox": EffectiveValue("auto", "default"),
        "sandbox_image": EffectiveValue(None, "default"),
        "sandbox_required": EffectiveValue(False, "default"),
        "trust": EffectiveValue("trusted", "default"),
        "codemode": EffectiveValue("on", "default"),
        "thinking": EffectiveValue(None, "default"),
        "isolation": EffectiveValue("copy", "spec"),
        "verify_in": EffectiveValue("clean", "default"),
        "attempts.verify": EffectiveValue(2, "spec"),
        "jobs": EffectiveValue(4, "cli"),
        "budget.turns": EffectiveValue(3, "spec"),
        "budget.tokens": EffectiveValue(None, "spec"),
        "budget.cost_usd": EffectiveValue(None, "default"),
        "budget.wall_s": EffectiveValue(5.0, "cli"),
        "budget.tool_calls": EffectiveValue(None, "default"),
    }
    assert (made.spec.budget.turns, made.spec.budget.wall_s, made.spec.budget.tokens) == (3, 5.0, None)


def test_flags_win_over_the_specs_budget(tmp_path: Path) -> None:
    text = "prompt: x\nbudget: {turns: 3, tokens: 10, cost_usd: 1, wall_s: 9}\n"
    made = task(tmp_path, text, max_turns=1, max_tokens=2, max_cost_usd=0.5, max_wall_s=4.0).spec.budget
    assert (made.turns, made.tokens, made.cost_usd, made.wall_s) == (1, 2, 0.5, 4.0)


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("sandbox: none", {"sandbox": "auto"}, EffectiveValue("auto", "cli")),
        ("sandbox: none", {}, EffectiveValue("none", "spec")),
        ("title: x", {}, EffectiveValue("auto", "environment")),
        ("title: x", {"environ": {}}, EffectiveValue("none", "config")),
        ("title: x", {"environ": {}, "config": Config()}, EffectiveValue("auto", "default")),
    ],
)
def test_precedence_of_the_sandbox(
    tmp_path: Path, text: str, given: dict[str, object], expected: EffectiveValue
) -> None:
    usual = {"environ": {"PI_BATCH_SANDBOX": "auto"}, "config": Config(sandbox="none")}
    made = task(tmp_path, f"prompt: y\n{text}\n", **(usual | given))
    assert made.settings["sandbox"] == expected
    assert made.spec.sandbox == expected.value


@pytest.mark.parametrize(
    ("suite", "given", "expected"),
    [
        ("max_parallel: 3", {"jobs": 2}, EffectiveValue(2, "cli")),
        ("max_parallel: 3", {}, EffectiveValue(3, "suite")),
        ("title: x", {}, EffectiveValue(5, "environment")),
        ("title: x", {"environ": {}}, EffectiveValue(7, "config")),
        ("title: x", {"environ": {}, "config": Config()}, EffectiveValue(1, "default")),
    ],
)
def test_precedence_of_jobs(
    tmp_path: Path, suite: str, given: dict[str, object], expected: EffectiveValue
) -> None:
    usual = {"environ": {"PI_BATCH_JOBS": "5"}, "config": Config(jobs=7)}
    made = plan(tmp_path, f"tasks: [{{id: t, prompt: y}}]\n{suite}\n", **(usual | given))
    assert made.tasks[0].settings["jobs"] == expected
    assert made.max_parallel == expected.value


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"max_turns": 0}, "--max-turns: got 0, need >= 1"),
        ({"max_tokens": -5}, "--max-tokens: got -5, need >= 1"),
        ({"max_cost_usd": -1.0}, "--max-cost-usd: got -1.0, need >= 0"),
        ({"max_cost_usd": float("nan")}, "--max-cost-usd: got nan, need >= 0"),
        ({"max_wall_s": 0.0}, "--max-wall-s: got 0.0, need > 0"),
        ({"max_wall_s": float("inf")}, "--max-wall-s: got inf, need > 0"),
        ({"repeat": 0}, "--repeat: got 0, need >= 1"),
        ({"jobs": 0}, "--jobs: got 0, need >= 1"),
        (
            {"sandbox_image": "-v"},
            "--sandbox-image: got '-v', need an image such as 'python:3.12-slim', or an absolute path",
        ),
        (
            {"sandbox": "dokcer"},
            "--sandbox: got 'dokcer', need one of auto, bwrap, landlock, docker, podman, none, "
            "did you mean 'docker'?",
        ),
        ({"environ": {"PI_BATCH_JOBS": "x"}}, "PI_BATCH_JOBS: got 'x', need a whole number"),
        (
            {"environ": {"PI_BATCH_SANDBOX": "x"}},
            "PI_BATCH_SANDBOX: got 'x', need one of auto, bwrap, landlock, docker, podman, none",
        ),
        (
            {"environ": {"PI_BATCH_MODEL": "gpt"}},
            "PI_BATCH_MODEL: got 'gpt', need provider/model, e.g. 'openai/gpt-4.1'",
        ),
    ],
)
def test_each_mistake_outside_of_files_is_one_line(
    tmp_path: Path, given: dict[str, object], line: str
) -> None:
    assert problem(tmp_path, "prompt: x\n", **given) == line


def test_mistakes_of_flags_variables_and_files_are_told_together(tmp_path: Path) -> None:
    lines = problems(
        tmp_path,
        "promt: x\nprompt: y\n",
        max_turns=0,
        environ={"PI_BATCH_JOBS": "0", "PI_BATCH_UNKNOWN": "x"},
    )
    assert lines == [
        "--max-turns: got 0, need >= 1",
        "PI_BATCH_JOBS: got 0, need >= 1",
        "a.yaml:1: promt: unknown key, did you mean 'prompt'?",
    ]


# --- selection ------------------------------------------------------------------------------------

THREE = {
    "fix-a.yaml": "prompt: x\ntags: [fast, net]\n",
    "fix-b.yaml": "prompt: x\ntags: [slow]\n",
    "docs.yaml": "prompt: x\n",
}


@pytest.mark.parametrize(
    ("patterns", "selected"),
    [
        ((), ["fix-a", "fix-b", "docs"]),
        (("fix-*",), ["fix-a", "fix-b"]),
        (("fix-?", "docs"), ["fix-a", "fix-b", "docs"]),
        (("docs",), ["docs"]),
        (("tag:fast",), ["fix-a"]),
        (("tag:*",), ["fix-a", "fix-b"]),
        (("tag:s*", "docs"), ["fix-b", "docs"]),
        (("[a-f]*",), ["fix-a", "fix-b", "docs"]),
    ],
)
def test_filters_select_by_id_or_tag(tmp_path: Path, patterns: tuple[str, ...], selected: list[str]) -> None:
    assert keys(plan(tmp_path, THREE, filter=patterns)) == selected


def test_a_filter_that_matches_nothing_is_an_empty_selection(tmp_path: Path) -> None:
    with pytest.raises(EmptySelection) as caught:
        plan(tmp_path, THREE, filter=("nope*", "tag:none"))
    assert str(caught.value) == "no task matches --filter nope* --filter tag:none (tasks: fix-a, fix-b, docs)"
    assert caught.value.exit_code == 4


def test_mistakes_in_tasks_that_are_not_selected_are_told_all_the_same(tmp_path: Path) -> None:
    files = {**THREE, "bad.yaml": "prompt: '{{ nope }}'\n"}
    assert problem(tmp_path, files, filter=("docs",)) == "bad.yaml:1: prompt: 'nope' is not defined"


def test_the_order_is_that_of_the_command_line(tmp_path: Path) -> None:
    assert keys(plan(tmp_path, THREE, "docs.yaml", "fix-b.yaml", "fix-a.yaml")) == ["docs", "fix-b", "fix-a"]


# --- what the report shows ------------------------------------------------------------------------


def test_the_planned_result_says_what_it_is(tmp_path: Path) -> None:
    text = "id: t\ntitle: T\nprompt: '{{ inputs.n }}'\ninputs: {n: {type: integer, default: 3}}\ntags: [x]\n"
    made = task(tmp_path, {"dir/a.yaml": text}, "./dir/../dir/a.yaml")
    shown = made.planned
    assert (shown.key, shown.task_id, shown.title, shown.spec) == ("t", "t", "T", "dir/a.yaml")
    assert shown.spec_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (shown.model, shown.suite, shown.inputs, shown.repeat, shown.tags) == (
        "fake/model",
        "a",
        {"n": 3},
        1,
        ("x",),
    )
    assert made.spec_dir == str(tmp_path / "dir")


def test_a_spec_outside_of_the_current_directory_keeps_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"specs/a.yaml": "prompt: x\n", "work/.keep": ""})
    inside = options(tmp_path / "work")
    assert load_plan(["../specs/a.yaml"], inside).tasks[0].planned.spec == "../specs/a.yaml"
    absolute = str(tmp_path / "specs" / "a.yaml")
    assert load_plan([absolute], inside).tasks[0].planned.spec == absolute
    assert load_plan([absolute], options(tmp_path)).tasks[0].planned.spec == "specs/a.yaml"


def test_the_same_plan_has_the_same_keys(tmp_path: Path) -> None:
    text = "tasks: [{id: t, prompt: x, inputs: {n: {}}}]\nmatrix: {n: [a, b]}\nrepeat: 2\n"
    first, second = plan(tmp_path, text), plan(tmp_path, text)
    assert keys(first) == keys(second)
    assert len(set(keys(first))) == 4


# --- exec -----------------------------------------------------------------------------------------


def test_a_prompt_is_a_task_in_place(tmp_path: Path) -> None:
    made = adhoc_plan("Fix {{ this }}.", options(tmp_path, max_turns=3))
    (only,) = made.tasks
    assert (only.planned.key, only.spec.prompt) == ("exec", "Fix {{ this }}.")
    assert (only.spec.workspace.isolation, only.spec.workspace.path, only.spec_dir) == (
        "none",
        ".",
        str(tmp_path),
    )
    assert only.spec.verify_in == "workspace"
    assert only.spec.budget.turns == 3
    assert (only.spec.codemode, only.spec.tools[-1]) == ("on", "codemode")
    assert only.settings["budget.turns"] == EffectiveValue(3, "cli")
    assert (only.planned.spec, only.planned.suite) == ("exec", "exec")


def test_a_prompt_may_run_with_several_models(tmp_path: Path) -> None:
    made = adhoc_plan("x", options(tmp_path, models=("fake/a", "fake/b"), repeat=2))
    assert keys(made) == ["exec--fake-a--1", "exec--fake-a--2", "exec--fake-b--1", "exec--fake-b--2"]


@pytest.mark.parametrize("prompt", ["", " \n", "a\udcffb"])
def test_a_prompt_is_text(tmp_path: Path, prompt: str) -> None:
    with pytest.raises(SpecError, match=r"^PROMPT: got .*, need UTF-8 text that is not blank$"):
        adhoc_plan(prompt, options(tmp_path))


def test_a_prompt_needs_a_model_and_takes_no_inputs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^no model: name one with -m"):
        adhoc_plan("x", options(tmp_path, models=()))
    with pytest.raises(SpecError, match=r"^-i a: no selected task has an input of that name$"):
        adhoc_plan("x", options(tmp_path, inputs={"a": "1"}))


# --- checking -------------------------------------------------------------------------------------


def test_a_check_needs_no_model(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "prompt: x\n", "b.yaml": "prompt: x\nmodel: fake/b\n"})
    made = check_specs(["a.yaml", "b.yaml"], options(tmp_path, models=()))
    assert [planned.model for planned in made.tasks] == [UNNAMED_MODEL, "fake/b"]


def test_a_check_finds_the_same_mistakes(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "prompt: '{{ nope }}'\nverfiy: x\n"})
    with pytest.raises(SpecError) as caught:
        check_specs(["a.yaml"], options(tmp_path))
    assert str(caught.value).split("\n") == [
        "a.yaml:1: prompt: 'nope' is not defined",
        "a.yaml:2: verfiy: unknown key, did you mean 'verify'?",
    ]


def test_a_check_of_nothing_is_an_empty_selection(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EmptySelection, match=r"^no task in empty$"):
        check_specs(["empty"], options(tmp_path))
