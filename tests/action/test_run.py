"""The main step's program: inputs as data, trust by the event, actors by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pi_batch.cli.main import cli
from tests.action.files import program

run = program("run.py")
apply = program("apply/apply.py")


def env(**inputs: str) -> dict[str, str]:
    values = {"TASK": "fix", **inputs}
    return {f"PI_BATCH_ACTION_{name}": value for name, value in values.items()} | {
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_REPOSITORY": "o/r",
    }


def event(tmp_path: Path, name: str, content: Any) -> dict[str, str]:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return {**env(), "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path)}


def test_inputs_become_arguments_word_by_word() -> None:
    words = run.arguments(
        env(
            TASK="a b.yaml\n fix-lint\n",
            MODEL="openai/x\nanthropic/y",
            INPUTS="k=v w; $(id)\ntest_command=pytest -q\n",
            MAX_TURNS="5",
            MAX_COST_USD="0.5",
            ARGS="--jobs 2 --secret 'A B'",
        )
    )
    assert words == [
        *("--model", "openai/x", "--model", "anthropic/y"),
        *("--max-turns", "5", "--max-cost-usd", "0.5"),
        *("--input", "k=v w; $(id)", "--input", "test_command=pytest -q"),
        *("--jobs", "2", "--secret", "A B"),
        *("--", "a b.yaml", "fix-lint"),
    ]


def test_pi_batch_run_knows_each_of_the_arguments() -> None:
    command = cli.get_command(None, "run")  # type: ignore[arg-type]
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    words = run.arguments(
        env(
            MODEL="a/b",
            INPUTS="k=v",
            MAX_TURNS="1",
            MAX_COST_USD="1",
            MAX_WALL_S="1",
            SANDBOX="none",
            TRUST="untrusted",
        )
    )
    assert {word for word in words if word.startswith("--") and word != "--"} <= known


def test_an_object_of_inputs_may_hold_any_text() -> None:
    title = 'a"b\nc $(id) ${{ x }} = \u2028'
    words = run.arguments(env(INPUTS=json.dumps({"title": title, "n": 3, "on": True, "none": None})))
    assert words == [
        *(
            "--input",
            f"title={title}",
            "--input",
            "n=3",
            "--input",
            "on=true",
            "--input",
            "none=",
            "--",
            "fix",
        )
    ]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"TASK": " \n"}, "input task"),
        ({"INPUTS": "novalue"}, "need KEY=VALUE"),
        ({"INPUTS": "{broken"}, "not JSON"),
        ({"INPUTS": '{"a": [1]}'}, "need a text, number or boolean"),
        ({"ARGS": "'open"}, "input args"),
        ({"TRUST": "full"}, "input trust"),
    ],
)
def test_inputs_that_make_no_sense_are_refused(inputs: dict[str, str], said: str) -> None:
    with pytest.raises(run.Refused, match=said):
        run.arguments(env(**inputs))


@pytest.mark.parametrize("name", ["push", "schedule", "workflow_dispatch", "merge_group"])
def test_events_of_people_who_may_write_are_trusted(name: str) -> None:
    assert run.trust_of({**env(), "GITHUB_EVENT_NAME": name}) == "trusted"
    assert run.trust_of({**env(TRUST="untrusted"), "GITHUB_EVENT_NAME": name}) == "untrusted"


@pytest.mark.parametrize(
    "name", ["pull_request_target", "issues", "issue_comment", "workflow_run", "discussion", "watch", ""]
)
def test_other_events_are_untrusted_whatever_is_asked(tmp_path: Path, name: str) -> None:
    assert run.trust_of({**event(tmp_path, name, {}), "PI_BATCH_ACTION_TRUST": "trusted"}) == "untrusted"


def pull_request(repository: str | None, kind: str = "User", sender: str = "User") -> dict[str, Any]:
    head = {"repo": None if repository is None else {"full_name": repository}}
    return {"pull_request": {"head": head, "user": {"type": kind}}, "sender": {"type": sender}}


@pytest.mark.parametrize(
    ("content", "trust"),
    [
        (pull_request("o/r"), "trusted"),
        (pull_request("fork/r"), "untrusted"),
        (pull_request(None), "untrusted"),
        (pull_request("o/r", "Bot"), "untrusted"),
        (pull_request("o/r", "User", "Bot"), "untrusted"),
        ({}, "untrusted"),
        ([], "untrusted"),
    ],
)
def test_a_pull_request_is_trusted_from_a_persons_own_branch_only(
    tmp_path: Path, content: Any, trust: str
) -> None:
    assert run.trust_of(event(tmp_path, "pull_request", content)) == trust


def test_a_payload_that_cannot_be_read_is_untrusted() -> None:
    assert run.trust_of({**env(), "GITHUB_EVENT_NAME": "pull_request"}) == "untrusted"


@pytest.mark.parametrize(
    ("allowed", "actor", "again", "may"),
    [
        ("", "anybody", "", True),
        ("ann, Bob\ncarl", "bob", "", True),
        ("ann", "bob", "", False),
        ("ann", "ann", "bob", False),
        ("ann bob", "ann", "bob", True),
        ("dependabot[bot]", "dependabot[bot]", "", True),
        ("dependabot[bot]", "other[bot]", "", False),
        ("ann", "", "", False),
    ],
)
def test_actors_are_compared_by_name_also_on_a_second_attempt(
    allowed: str, actor: str, again: str, may: bool
) -> None:
    values = {**env(ALLOWED_ACTORS=allowed), "GITHUB_ACTOR": actor, "GITHUB_TRIGGERING_ACTOR": again}
    assert run.may_run(values) == may


@pytest.mark.parametrize("allowed", ["*", "ann,*[bot]", "a?n"])
def test_a_wildcard_of_actors_is_refused(allowed: str) -> None:
    with pytest.raises(run.Refused, match="wildcard"):
        run.may_run(env(ALLOWED_ACTORS=allowed))


def test_artifacts_have_names_that_the_service_takes_and_that_differ() -> None:
    values = {**env(), "GITHUB_JOB": 'a/b "c"', "GITHUB_RUN_ATTEMPT": "2"}
    first, second = run.artifact(values), run.artifact(values)
    assert first.startswith("pi-batch-a-b-c-")
    assert first != second
    assert run.artifact(env(ARTIFACT="none")) == ""
    assert run.artifact(env(ARTIFACT="my run")) == "my-run"


def test_apply_takes_a_branch_or_a_pull_request() -> None:
    values = {"APPLY": "pull-request", "RUN_DIRECTORY": "/r d", "INTO": "main", "ALLOW": "a/**\n\n b\n"}
    environ = {f"PI_BATCH_ACTION_{name}": value for name, value in values.items()}
    assert apply.arguments(environ)[-7:] == ["main", "--allow", "a/**", "--allow", "b", "--", "/r d"]
    assert "--push" in apply.arguments({**environ, "PI_BATCH_ACTION_APPLY": "branch"})
    for wrong in ("tree", "", "commit"):
        with pytest.raises(ValueError, match="input apply"):
            apply.arguments({**environ, "PI_BATCH_ACTION_APPLY": wrong})
    command = cli.get_command(None, "apply")  # type: ignore[arg-type]
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in apply.arguments(environ) if word.startswith("--") and word != "--"} <= known
