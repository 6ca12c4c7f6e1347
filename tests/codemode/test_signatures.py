"""Tools as Python functions."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from pi_batch import tools
from pi_batch.codemode.signatures import inline, python_type, tool_signature
from pi_batch.codemode.values import ToolSignature
from pi_batch.messages import ToolDeclaration
from pi_batch.spec import PathRules
from pi_batch.tools.declare import declaration


def sample(**properties: Any) -> ToolDeclaration:
    required = [name for name, schema in properties.items() if schema.pop("needed", False)]
    schema = {"type": "object", "properties": properties, "required": required}
    return ToolDeclaration("sample", "A sample.", schema)


def test_required_arguments_come_first_and_others_have_their_defaults() -> None:
    made = tool_signature(
        sample(
            limit={"type": "integer"},
            path={"type": "string", "needed": True},
            deep={"type": "boolean", "default": True},
        ),
        "list[str]",
    )
    assert made.signature == "sample(path: str, limit: int | None = None, deep: bool = True) -> list[str]"
    assert (made.parameters, made.required) == (("path", "limit", "deep"), ("path",))
    assert (made.name, made.description) == ("sample", "A sample.")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string"}, "str"),
        ({"type": "array", "items": {"type": "number"}}, "list[float]"),
        ({"type": "array"}, "list"),
        ({"enum": ["a", 1, None, True]}, "Literal['a', 1, None, True]"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "string"}]}, "str | int"),
        ({"type": ["string", "null"]}, "str | None"),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}}, "{'a': bool}"),
        ({"type": "object"}, "dict"),
        ({"type": "other"}, "Any"),
        ({}, "Any"),
        (True, "Any"),
    ],
)
def test_a_schema_is_an_annotation(schema: Any, text: str) -> None:
    assert python_type(schema) == text
    ast.parse(f"x: {text}")


@pytest.mark.parametrize("name", tools.TABLE)
def test_every_tools_signature_is_python(name: str) -> None:
    tool = tools.make([name], PathRules())[name]
    made = tool_signature(declaration(tool), tool.returns)
    function = ast.parse(f"def {made.signature.partition('  #')[0]}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert tuple(argument.arg for argument in function.args.args) == made.parameters
    assert len(function.args.args) - len(function.args.defaults) == len(made.required)


def test_signatures_are_listed_while_there_is_room_and_the_rest_is_counted() -> None:
    many = [ToolSignature(f"t{n}", (), (), f"t{n}() -> str", "") for n in range(10)]
    assert inline(many, 1000).count("\n") == 9
    lines = inline(many, 40).split("\n")
    assert lines[:2] == ["tools.t0() -> str", "tools.t1() -> str"]
    assert lines[2].startswith("# 8 more: search_tools(")
