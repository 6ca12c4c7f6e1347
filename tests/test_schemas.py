"""JSON Schemas for editors and readers: what loads validates, what is misspelt does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pi_batch.load.rules import NOT_AVAILABLE
from pi_batch.messages import JsonObject
from pi_batch.reports.json import Json
from pi_batch.results import BatchResult, PlannedResult, Totals
from pi_batch.schemas import result_schema, suite_schema, task_schema
from pi_batch.spec import SuiteSpec, TaskSpec
from tests.load.loading import plan


def errors(schema: JsonObject, document: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(dict(schema))
    return [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize("make", [task_schema, suite_schema, result_schema])
def test_each_schema_is_a_schema(make: Any) -> None:
    schema = make()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    json.dumps(schema)


def test_every_field_of_a_task_is_described() -> None:
    schema = task_schema()
    properties = schema["properties"]
    assert set(properties) == set(TaskSpec.__struct_fields__)
    for name, field in properties.items():
        referred = schema["$defs"].get(field.get("$ref", "").rsplit("/", 1)[-1], {})
        assert field.get("description") or referred.get("description"), name


def test_what_is_not_available_yet_is_said() -> None:
    schema = task_schema()
    properties = schema["properties"]
    for name in ("skills", "mcp"):
        assert NOT_AVAILABLE in properties[name]["description"]
    assert NOT_AVAILABLE not in properties["prompt"]["description"]
    workspace = schema["$defs"]["WorkspaceSpec"]["properties"]
    assert NOT_AVAILABLE not in workspace["ref"]["description"]
    assert NOT_AVAILABLE not in json.dumps(schema["$defs"]["PathRules"])


TASKS = [
    "prompt: x",
    "prompt: x\nid: a\nversion: 1\ntitle: T\nmodel: fake/x\ntags: [a]",
    "prompt: x\nverify: pytest -q",
    "prompt: x\nonly_if: test -f a",
    "prompt: x\nonly_if: {changed: [src/**], since: main, days: 7, run: make}",
    "prompt: x\nverify: [pytest -q, {run: make}, {name: lint, run: ruff check, timeout_s: 3}]",
    "prompt: x\nsystem: Be brief.",
    "prompt: x\nsystem: {replace: Mine.}",
    "prompt: x\nbudget: {turns: 3, tokens: null, cost_usd: 1.5, wall_s: 60}",
    "prompt: x\noutput: {schema: {type: object, properties: {a: {type: string}}}, files: [a.md]}",
    (
        "prompt: x\ninputs: {a: {required: false}, b: {type: integer, default: 3}, c: {type: "
        "enum, values: [x, y], default: x}}"
    ),
    "prompt: x\nworkspace: {path: .., isolation: copy, setup: [make]}\nprotect: [tests/**]",
    "prompt: x\npermissions: {write: {deny: [a]}, network: true, env: [PATH]}\ntools: [read, bash]",
    "prompt: x\nprecheck: {run: make, skip_if: fails}\nverify_in: clean\nattempts: {verify: 2}",
]


@pytest.mark.parametrize("text", TASKS)
def test_a_task_that_loads_validates(tmp_path: Path, text: str) -> None:
    assert plan(tmp_path, text + "\n").tasks
    assert errors(task_schema(), yaml.safe_load(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "id: a",
        "promt: x",
        "prompt: x\nverfiy: make",
        "prompt: x\nbudget: {turn: 3}",
        "prompt: x\nbudget: {turns: 0}",
        "prompt: x\nverify: [{name: a}]",
        "prompt: x\nverify: {run: a}",
        "prompt: x\nworkspace: {isolation: worktree}",
        "prompt: x\ntools: [raed]",
        "prompt: x\nsystem: {replaced: x}",
        "prompt: x\nversion: 2",
        "prompt: ''",
        "prompt: [x]",
    ],
)
def test_a_mistake_does_not_validate(text: str) -> None:
    assert errors(task_schema(), yaml.safe_load(text))


SUITES = [
    "tasks: [a.yaml]",
    "tasks: [{id: t, prompt: x}]",
    "tasks: [{id: t}]\ndefaults: {prompt: x, verify: make, system: Be brief.}",
    "tasks: [{id: t, prompt: x}]\nmatrix: {model: [fake/a], inputs: {n: [1, b, true]}}\nrepeat: 2",
    "tasks: [{id: t, prompt: x}]\nmatrix: {repo: [a.git, {repo: b, ref: main, budget: {turns: 3}}]}",
    (
        "tasks: [{id: t, prompt: x}]\nmatrix: {n: [1]}\nbudget: {cost_usd: 3}\nmax_parallel: "
        "4\ntitle: T\nversion: 1"
    ),
]


@pytest.mark.parametrize("text", SUITES)
def test_a_suite_validates(text: str) -> None:
    assert errors(suite_schema(), yaml.safe_load(text)) == []
    assert set(suite_schema()["properties"]) == set(SuiteSpec.__struct_fields__)


@pytest.mark.parametrize(
    "text",
    [
        "defaults: {}",
        "tasks: x",
        "tasks: [{prompt: x}]",
        "tasks: [{id: t, promt: x}]",
        "tasks: []\ndefaults: {verfiy: x}",
        "tasks: []\ndefaults: {id: x}",
        "tasks: []\nmatrix: {model: fake/a}",
        "tasks: []\nmatrix: {model: []}",
        "tasks: []\nrepeat: 0",
        "tasks: []\nprompt: x",
    ],
)
def test_a_mistake_in_a_suite_does_not_validate(text: str) -> None:
    assert errors(suite_schema(), yaml.safe_load(text))


def test_a_batch_validates() -> None:
    planned = PlannedResult("a", "a", "", "a.yaml", "0" * 64, "fake/x")
    batch = BatchResult(
        1, "run", "2026-01-01T00:00:00Z", 0.5, "running", (planned,), Totals(), (), 0, "0.1.0"
    )
    document = json.loads(Json().render(batch))
    assert errors(result_schema(), document) == []
    document["status"] = "done"
    assert errors(result_schema(), document)
    assert "$defs" in result_schema()
