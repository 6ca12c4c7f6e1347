"""Virtual models, fallbacks, levels and follow-ups, from the places where they are written to a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import SpecError, UsageError
from pi_batch.load.config import Config, load_config
from pi_batch.load.options import PlanOptions
from pi_batch.load.plan import adhoc_plan
from pi_batch.load.virtual import virtual_models
from pi_batch.results import EffectiveValue
from tests.load.loading import problems, task, write

CLIMB = {"policy": "escalate", "models": ["a/1", "b/2", "c/3"]}


def config(**tables: object) -> Config:
    return Config(models=virtual_models(tables))


def test_a_table_is_read_and_lists_are_lists(tmp_path: Path) -> None:
    text = '[models.climb]\npolicy = "escalate"\nmodels = ["a/1", "b/2"]\n'
    write(tmp_path, {".pi-batch.toml": text})
    found = load_config(tmp_path).models
    assert found is not None
    assert (found["climb"].policy, found["climb"].models) == ("escalate", ("a/1", "b/2"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("models = 3\n", ".pi-batch.toml:1: models: got '3', need a table for each virtual model"),
        ("[models]\nx = 3\n", "models: x: got '3', need a table with policy"),
        ('[models.x]\npolcy = "a"\n', "models: x: 'polcy': unknown key, did you mean 'policy'?"),
        ("[models.x]\nmodels = []\n", "models: x.policy: got 'None', need one of fallback, escalate"),
        ('[models.x]\npolicy = "best"\n', "models: x.policy: got 'best'"),
        (
            '[models.x]\npolicy = "fallback"\nmodels = [1]\n',
            "models: x: Expected `str`, got `int` - at `$.models[0]`",
        ),
        ('[models.x]\npolicy = "fallback"\n', "models: x: policy fallback needs models"),
        ('[models."a b"]\npolicy = "fallback"\nmodels = ["a/1"]\n', "models: a b: got the name 'a b'"),
    ],
)
def test_what_is_wrong_in_the_file_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    write(tmp_path, {".pi-batch.toml": text})
    with pytest.raises(SpecError) as caught:
        load_config(tmp_path)
    (said,) = str(caught.value).split("\n")
    assert line in said


def test_the_specs_own_models_win_over_the_files(tmp_path: Path) -> None:
    text = """
        prompt: x
        model: router/climb
        models: {climb: {policy: fallback, models: [d/4]}}
        """
    made = task(tmp_path, text, models=(), config=config(climb=CLIMB, other=CLIMB))
    assert made.model == "router/climb"
    assert made.virtual["climb"].models == ("d/4",)
    assert set(made.virtual) == {"climb", "other"}


def test_an_untrusted_task_knows_nothing_of_the_files_models(tmp_path: Path) -> None:
    text = "prompt: x\ntrust: untrusted\nmodel: router/climb\n"
    (line,) = problems(tmp_path, text, models=(), config=config(climb=CLIMB))
    assert line == ("a.yaml:3: model 'router/climb': no virtual model of that name (known: none)")


def test_a_spec_never_names_a_function(tmp_path: Path) -> None:
    text = """
        prompt: x
        models:
          own: {policy: function, function: "os:system", models: [a/1]}
        """
    (line,) = problems(tmp_path, text)
    assert line.startswith(
        "a.yaml:3: models.own: policy function: a function is named in the configuration file"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("model: router/x", "a.yaml:2: model 'router/x': no virtual model of that name (known: none)"),
        ("fallback: [router/x]", "no virtual model of that name"),
        (
            "model: router/a\nmodels: {a: {policy: fallback, models: [router/a]}}",
            "a.yaml:2: model 'router/a': leads back to itself: router/a -> router/a",
        ),
        ("models: {a: {policy: fallback, models: []}}", "a.yaml:2: models.a: policy fallback needs models"),
        ("models: {a: {policy: best}}", "models.a.policy: got 'best', need one of fallback, escalate"),
        ("models: {a: {polcy: best}}", "models.a.polcy: unknown key"),
        ("models: {a: {models: [a/1]}}", "models.a.policy: missing"),
        ("fallback: [gpt]", "a.yaml:2: fallback[0]: got 'gpt', need provider/model"),
        ("fallback: [replay/s.jsonl]", "fallback[0]: got 'replay/s.jsonl': a recording"),
        ("fallback: [oracle]", "fallback[0]: got 'oracle': a recording and a built-in model stand alone"),
        ("thinking: hard", "a.yaml:2: thinking: got 'hard', need one of off, minimal, low"),
        ("follow_ups: ['']", "a.yaml:2: follow_ups[0]: got '', need text that is not blank"),
        ("follow_ups: ['{{ inputs.x }}']", "a.yaml:2: follow_ups[0]: "),
    ],
)
def test_mistakes_are_told_with_their_place_before_anything_runs(
    tmp_path: Path, text: str, line: str
) -> None:
    said = problems(tmp_path, f"prompt: x\n{text}\n", models=() if "model: router" in text else ("a/1",))
    assert any(line in one for one in said), said


def test_a_model_of_the_command_line_leads_somewhere_too(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, "prompt: x\n", models=("router/nobody",))
    assert "model 'router/nobody': no virtual model" in line
    with pytest.raises(UsageError, match="router/nobody"):
        adhoc_plan("go", PlanOptions(cwd=tmp_path, models=("router/nobody",)))


def test_an_escalation_has_as_many_attempts_as_models_unless_the_spec_says(tmp_path: Path) -> None:
    known = config(climb=CLIMB)
    made = task(tmp_path, "prompt: x\nverify: 'true'\n", models=("router/climb",), config=known)
    assert made.spec.attempts.verify == 3
    assert made.settings["attempts.verify"] == EffectiveValue(3, "default")
    said = task(
        tmp_path,
        "prompt: x\nverify: 'true'\nattempts: {verify: 2}\n",
        models=("router/climb",),
        config=known,
    )
    assert said.settings["attempts.verify"] == EffectiveValue(2, "spec")
    assert task(tmp_path, "prompt: x\n", models=("a/1",), config=known).spec.attempts.verify == 1


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("model: a/1", {}, (None, "default")),
        ("model: a/1:high", {}, ("high", "spec")),
        ("model: a/1:none", {}, ("off", "spec")),
        ("model: a/1\nthinking: low", {}, ("low", "spec")),
        ("model: a/1:high\nthinking: low", {}, ("high", "spec")),
        ("model: a/1:high", {"thinking": "max"}, ("max", "cli")),
        ("thinking: low", {"models": ("a/1:high",)}, ("high", "cli")),
        ("", {"models": ("a/1:high",), "thinking": "max"}, ("high", "cli")),
        ("model: a/1", {"config": Config(thinking="low")}, ("low", "config")),
        ("model: a/1:high", {"config": Config(thinking="low")}, ("high", "spec")),
        ("model: a/1", {"environ": {"PI_BATCH_THINKING": "medium"}}, ("medium", "environment")),
        ("thinking: low", {"environ": {"PI_BATCH_MODEL": "a/1:high"}}, ("low", "spec")),
    ],
)
def test_a_level_comes_from_the_nearest_place_and_behind_the_name_first(
    tmp_path: Path, text: str, given: dict[str, object], expected: tuple[str | None, str]
) -> None:
    made = task(tmp_path, f"prompt: x\n{text}\n", **{"models": (), **given})
    assert made.settings["thinking"] == EffectiveValue(*expected)
    assert made.spec.thinking == expected[0]


def test_a_level_that_is_none_is_refused_wherever_it_comes_from(tmp_path: Path) -> None:
    (cli,) = problems(tmp_path, "prompt: x\n", thinking="hard")
    assert cli.startswith("--thinking: got 'hard', need one of off, minimal")
    (variable,) = problems(tmp_path, "prompt: x\n", environ={"PI_BATCH_THINKING": "hi"})
    assert variable.startswith("PI_BATCH_THINKING: got 'hi'")


def test_follow_ups_are_templates_as_the_prompt_is(tmp_path: Path) -> None:
    text = """
        prompt: Fix {{ inputs.what }}.
        inputs: {what: {default: it}, raw: {default: "x", trust: untrusted}}
        follow_ups: ["Look at {{ inputs.what }} again.", "{{ inputs.raw }}"]
        """
    first, second = task(tmp_path, text).spec.follow_ups
    assert first == "Look at it again."
    assert "data from outside" in second
