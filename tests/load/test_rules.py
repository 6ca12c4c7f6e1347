"""Rules of fields, and the one table of what is reserved."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.load.decode import fields_by_key
from pi_batch.load.rules import (
    HINTS,
    NODE_RULES,
    NOT_AVAILABLE,
    RESERVED,
    RULES,
    json_schema,
    not_blank,
    path_glob,
    task_id,
)
from pi_batch.model_names import model_name
from pi_batch.spec import SpecModel, TaskSpec


def fields(model: type[SpecModel], path: str = "") -> set[str]:
    """Every way to a field of a model, with [] for items of lists."""
    found: set[str] = set()
    for key, info in fields_by_key(model).items():
        way = f"{path}.{key}" if path else key
        found |= {way, f"{way}[]"}
        for argument in (info.type, *getattr(info.type, "__args__", ())):
            if isinstance(argument, type) and issubclass(argument, SpecModel):
                found |= fields(argument, way) | fields(argument, f"{way}[]")
    return found


@pytest.mark.parametrize("key", sorted({*RULES, *NODE_RULES, *RESERVED}))
def test_every_rule_is_for_a_field_that_exists(key: str) -> None:
    assert key in fields(TaskSpec)


@pytest.mark.parametrize(
    ("key", "free", "reserved"),
    [
        ("mcp", [{}], [{"a": 1}]),
        ("skills", [()], [("x",)]),
    ],
)
def test_what_is_reserved_is_refused_and_nothing_else(key: str, free: list[Any], reserved: list[Any]) -> None:
    assert [RULES[key](value) for value in free] == [None] * len(free)
    assert [RULES[key](value) for value in reserved] == [NOT_AVAILABLE] * len(reserved)


def test_every_reserved_key_has_a_case_above() -> None:
    mark = test_what_is_reserved_is_refused_and_nothing_else.pytestmark[0]
    assert {case[0] for case in mark.args[1]} == set(RESERVED)


def test_hints_are_phrases() -> None:
    assert HINTS["turns"] == "did you mean 'budget.turns'?"
    assert HINTS["verify"] == "it belongs to the task itself"
    assert all(hint and hint[0].islower() for hint in HINTS.values())


@pytest.mark.parametrize("name", ["a", "A1", "fix.it", "fix_it", "fix-it", "1", "x" * 100])
def test_ids(name: str) -> None:
    assert task_id(name) is None


@pytest.mark.parametrize(
    "name", ["", " ", "a b", ".a", "_a", "-a", "a--b", "a/b", "a\\b", "a\n", "\u00e9", "x" * 101, "a:b", "a*"]
)
def test_what_is_no_id(name: str) -> None:
    complaint = task_id(name)
    assert complaint is not None
    assert complaint.startswith("got ")


@pytest.mark.parametrize(
    "name",
    [
        "anthropic/claude-sonnet-5",
        "openai/gpt-5:high",
        "ollama/qwen3:8b",
        "openrouter/meta-llama/llama-3:free",
        "replay//abs/path with blanks/x.jsonl",
        "openai-chat/x",
        "replay/\u00e9.jsonl",
    ],
)
def test_models(name: str) -> None:
    assert model_name(name) is None


@pytest.mark.parametrize(
    "name", ["", "x", "/x", "x/", "x/ ", "x / y", " x/y", "x/y ", "x/a\nb", "x/" + "y" * 1000]
)
def test_what_is_no_model(name: str) -> None:
    assert model_name(name) is not None


@pytest.mark.parametrize(
    "glob",
    [
        "a",
        "*.py",
        "/a",
        "a/",
        "**",
        "**/a",
        "a/**",
        "a/**/b",
        "[ab]",
        "[!ab]",
        "[^a]",
        "[a-z]",
        "a\\ b",
        "!a",
        "a b",
        "{a,b}",
    ],
)
def test_globs(glob: str) -> None:
    assert path_glob(glob) is None


@pytest.mark.parametrize(
    "glob", ["", " ", "#", "# a", "!", "! ", "[", "a[", "[a", "[z-a]", "a\\", "a[]", "[[:digit:]]"]
)
def test_what_is_no_glob(glob: str) -> None:
    complaint = path_glob(glob)
    assert complaint is not None
    assert "need a glob" in complaint


def test_blank_is_nothing() -> None:
    assert not_blank("x") is None
    assert not_blank(" \t\n") == "got ' \\t\\n', need text that is not blank"


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "integer"}}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array"},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"a": {}},
            "$ref": "#/definitions/a",
        },
        {"properties": {"$ref": {"type": "string"}}},
        {"$defs": {"a": {"$anchor": "here"}}, "$ref": "#here"},
        {"$defs": {"a": {"$id": "https://example.com/a"}}, "$ref": "https://example.com/a"},
    ],
)
def test_schemas(schema: dict[str, Any] | None) -> None:
    assert json_schema(schema) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": 3},
        {"type": "strnig"},
        {"required": [1]},
        {"minimum": "x"},
        {"properties": []},
        {"items": 3},
        {"$ref": 3},
        {"$ref": "#/nowhere"},
        {"$ref": "file:///etc/passwd"},
        {"$schema": 3},
        {"$schema": "draft-07"},
        {"patternProperties": {"(": {}}},
        {"$id": 3},
    ],
)
def test_what_is_no_schema(schema: dict[str, Any]) -> None:
    complaint = json_schema(schema)
    assert complaint is not None
    assert complaint.isprintable()
