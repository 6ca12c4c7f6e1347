"""Tool schemas become the subset that Gemini takes, or go where whole JSON Schema may stand."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.providers.google_schema import declared_parameters
from tests.servers.gemini_rules import check_gemini


def taken(schema: dict[str, Any]) -> dict[str, Any]:
    """The declaration's field, which the service takes."""
    declared = declared_parameters(schema)
    tools = [{"functionDeclarations": [{"name": "t", "description": "d", **declared}]}]
    contents = [{"role": "user", "parts": [{"text": "x"}]}]
    check_gemini({"contents": contents, "tools": tools}, "gemini-3-pro")
    return declared


def field(schema: dict[str, Any], **root: Any) -> Any:
    """What one property becomes in the subset."""
    declared = taken({"type": "object", "properties": {"a": schema}, **root})
    return declared["parameters"]["properties"]["a"]


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_that_takes_nothing_declares_nothing(schema: dict[str, Any]) -> None:
    assert taken(schema) == {}


def test_words_that_gemini_does_not_know_are_left_out() -> None:
    """zed-industries/zed#44875."""
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "x",
        "type": "object",
        "additionalProperties": False,
        "propertyNames": {"pattern": "^a"},
        "properties": {"a": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2, "minimum": 1}},
        "required": ["a", "never_defined"],
    }
    assert taken(schema) == {
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer", "minimum": 1}},
            "required": ["a"],
        }
    }


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "format": "uri"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "string", "const": "x"}, {"type": "string", "enum": ["x"], "format": "enum"}),
        ({"const": "x"}, {"type": "string", "enum": ["x"], "format": "enum"}),
        ({"enum": ["x", "y"]}, {"type": "string", "enum": ["x", "y"], "format": "enum"}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer"}),
        ({"type": "boolean", "const": True}, {"type": "boolean"}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            {"type": "string", "nullable": True, "default": None},
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        ({"allOf": [{"type": "string"}], "description": "d"}, {"type": "string", "description": "d"}),
        ({"items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "number", "format": "double"}, {"type": "number", "format": "double"}),
    ],
)
def test_what_the_subset_says_otherwise_is_rewritten(schema: dict[str, Any], said: dict[str, Any]) -> None:
    assert field(schema) == said


def test_references_are_put_in_their_places() -> None:
    definitions = {
        "edit/1": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]},
        "alias": {"$ref": "#/$defs/edit~11"},
    }
    schema = {"type": "array", "items": {"$ref": "#/$defs/alias"}, "minItems": 1}
    assert field(schema, **{"$defs": definitions}) == {
        "type": "array",
        "minItems": 1,
        "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]},
    }


UNSAYABLE: list[dict[str, Any]] = [
    {"type": "object"},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"type": "object", "properties": {"b": {}}, "additionalProperties": {"type": "string"}},
    {"type": "object", "patternProperties": {"^x": {"const": 1}}, "properties": {"b": {"type": "string"}}},
    {"type": "array"},
    {},
    {"not": {"type": "string"}},
    {"allOf": [{"type": "string"}, {"minLength": 1}]},
    {"type": "string", "enum": ["", "x"]},
    {"type": "string", "enum": [1]},
    {"type": "tuple"},
    {"$ref": "#/$defs/node"},
    {"$ref": "#/$defs/circle"},
    {"$ref": "#/$defs/nowhere"},
    {"$ref": "https://elsewhere.example/schema"},
]


@pytest.mark.parametrize("schema", UNSAYABLE)
def test_what_the_subset_cannot_say_goes_as_json_schema(schema: dict[str, Any]) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    definitions = {"node": node, "circle": {"$ref": "#/$defs/circle"}}
    whole = {"type": "object", "properties": {"a": schema}, "$defs": definitions}
    declared = taken(whole)
    assert declared.keys() == {"parametersJsonSchema"}
    assert declared["parametersJsonSchema"]["$defs"] == definitions


def test_json_schema_has_no_const_there_and_keeps_a_property_of_that_name() -> None:
    """earendil-works/pi#11308."""
    schema = {
        "$schema": "x",
        "type": "object",
        "properties": {
            "const_": {"const": 5},
            "free": {"type": "object", "properties": {"kind": {"const": "k"}}, "additionalProperties": {}},
        },
    }
    declared = declared_parameters(schema)["parametersJsonSchema"]
    assert "$schema" not in declared
    assert declared["properties"]["const_"] == {"enum": [5]}
    assert declared["properties"]["free"]["properties"]["kind"] == {"enum": ["k"]}


def test_a_schema_of_any_depth_is_answered() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(50):
        deep = {"type": "object", "properties": {"a": deep}}
    assert taken(deep).keys() == {"parametersJsonSchema"}
