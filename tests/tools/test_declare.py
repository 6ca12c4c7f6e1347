"""Schemas that every provider takes, and one error text for arguments that are wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch import tools
from pi_batch.arguments import ToolArguments, said
from pi_batch.errors import ToolError
from pi_batch.protocols import Tool, ToolContext, ToolOutput
from pi_batch.spec import PathRules
from pi_batch.tools.arguments import Limit, from_one
from pi_batch.tools.declare import declaration, parse_arguments

ALL = tools.make([name for name in tools.TABLE if name != "bash"], PathRules())


def test_a_schema_is_made_once_for_all_tasks() -> None:
    again = tools.make(list(ALL), PathRules(deny=("secret",)))
    for name, tool in again.items():
        assert tool is not ALL[name]
        assert declaration(tool).parameters is declaration(ALL[name]).parameters


class Inner(ToolArguments, frozen=True, kw_only=True):
    """Inside."""

    title: Annotated[str, said("A property named like a keyword.")]
    default: int = 3


class Arguments(ToolArguments, frozen=True, kw_only=True):
    """Not for the model."""

    path: Annotated[str, said("Where.\n    On a second line.", "file_path")]
    count: int | None = None
    line: Annotated[Limit | None, said("A line.", coerce=from_one)] = None
    ratio: float = 0.5
    is_on: bool = False
    inner: Inner | None = None
    items: tuple[Inner, ...] = ()
    names: list[str] | None = None
    either: int | str = 0


class Sample:
    """A tool with one of everything."""

    name = "sample"
    description = "A sample."
    arguments = Arguments
    is_read_only = True
    returns = "str"

    def written_paths(self, arguments: Any) -> tuple[str, ...]:
        return ()

    async def run(self, arguments: Any, context: ToolContext) -> ToolOutput:
        return ToolOutput(())


SAMPLE: Tool = Sample()


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every schema node, properties' names not taken for keywords."""
    yield schema
    for child in schema.get("properties", {}).values():
        yield from nodes(child)
    for key in ("items", "anyOf"):
        value = schema.get(key)
        for child in value if isinstance(value, list) else [value] if value else []:
            yield from nodes(child)


@pytest.mark.parametrize("tool", [SAMPLE, *ALL.values()], ids=lambda tool: tool.name)
def test_a_schema_uses_only_words_that_every_provider_takes(tool: Tool) -> None:
    made = declaration(tool)
    assert (made.name, made.description) == (tool.name, tool.description)
    schema = made.parameters
    assert schema["type"] == "object"
    assert "anyOf" not in schema
    assert isinstance(schema["properties"], dict)
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "$defs" not in text
    for node in nodes(schema):
        assert "title" not in node
        assert node.get("type") != "null"
        assert node.get("type") != "array" or isinstance(node["items"], dict)
        assert node.get("type") != "array" or node["items"].get("type")
        assert not isinstance(node.get("type"), list)
        assert not {"exclusiveMinimum", "ge", "prefixItems", "oneOf", "allOf"} & node.keys()


def test_what_the_schema_says() -> None:
    schema = declaration(SAMPLE).parameters
    assert schema["required"] == ["path"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["path"] == {
        "type": "string",
        "description": "Where. On a second line.",
    }
    assert schema["properties"]["count"] == {"type": "integer"}
    assert schema["properties"]["line"] == {"type": "integer", "minimum": 1, "description": "A line."}
    assert schema["properties"]["is_on"] == {"type": "boolean", "default": False}
    assert schema["properties"]["inner"]["properties"]["title"]["type"] == "string"
    assert schema["properties"]["items"]["items"]["required"] == ["title"]
    assert schema["properties"]["names"] == {"type": "array", "items": {"type": "string"}}
    assert [branch["type"] for branch in schema["properties"]["either"]["anyOf"]] == ["integer", "string"]


def test_other_spellings_are_not_shown() -> None:
    text = json.dumps([declaration(tool).parameters for tool in ALL.values()])
    for spelling in ("oldText", "newText", "file_path", "ignoreCase", "replaceAll"):
        assert spelling not in text


# --- in -------------------------------------------------------------------------------------------


def parsed(**arguments: Any) -> Any:
    return parse_arguments(SAMPLE, arguments)


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        ({"path": "a"}, "path", "a"),
        ({"file_path": "a"}, "path", "a"),
        ({"path": "a", "count": "120"}, "count", 120),
        ({"path": "a", "count": 3.0}, "count", 3),
        ({"path": "a", "ratio": "1.5"}, "ratio", 1.5),
        ({"path": "a", "ratio": 2}, "ratio", 2.0),
        ({"path": "a", "is_on": "true"}, "is_on", True),
        ({"path": "a", "count": None}, "count", None),
        ({"path": "a", "ratio": None}, "ratio", 0.5),
        ({"path": "a", "is_on": None}, "is_on", False),
        ({"path": "a", "line": 0}, "line", 1),
        ({"path": "a", "line": "0"}, "line", 1),
    ],
)
def test_habits_of_models_are_tolerated(arguments: dict[str, Any], field: str, value: object) -> None:
    assert getattr(parsed(**arguments), field) == value


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "path: missing"),
        ({"path": None}, "path: got null, expected text"),
        ({"path": 3}, "path: got 3, expected text"),
        ({"path": "a", "count": "many"}, 'count: got "many", expected a whole number'),
        ({"path": "a", "count": 1.5}, "count: got 1.5, expected a whole number"),
        ({"path": "a", "line": -1}, "line: got -1, expected a whole number >= 1"),
        ({"path": "a", "is_on": "perhaps"}, 'is_on: got "perhaps", expected true or false'),
        ({"path": "a", "counts": 1}, "counts: unknown argument, did you mean 'count'?"),
        ({"path": "a", "filepath": 1}, "filepath: unknown argument, did you mean 'path'?"),
        ({"path": "a", "zzz": 1}, "zzz: unknown argument"),
        ({"path": "a", "file_path": "b"}, "file_path: given besides 'path', which means the same"),
        ({"path": "a", "inner": {}}, "inner.title: missing"),
        ({"path": "a", "items": [{"title": "x"}, {"title": 1}]}, "items[1].title: got 1"),
        ({"path": "a", "items": {"title": "x"}}, "items: got {"),
        ({"path": "a", "items": "x" * 500}, "… (502 characters)"),
    ],
)
def test_one_text_names_field_value_and_expectation(arguments: dict[str, Any], expected: str) -> None:
    with pytest.raises(ToolError) as caught:
        parsed(**arguments)
    assert caught.value.error_kind == "invalid_arguments"
    text = str(caught.value)
    assert expected in text
    assert text.startswith("sample: invalid arguments, nothing was run: ")
    assert "Arguments of sample: path (string), count? (integer)" in text
    assert len(text) < 1500


def test_every_wrong_field_is_named_at_once() -> None:
    with pytest.raises(ToolError) as caught:
        parsed(pth="a", count="x", ratio="y")
    for name in ("path", "pth", "count", "ratio"):
        assert f"{name}: " in str(caught.value)


def test_frozen_arguments_stay_as_they_were_given() -> None:
    given_arguments = {"path": "a", "count": None}
    parse_arguments(SAMPLE, given_arguments)
    assert given_arguments == {"path": "a", "count": None}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from([SAMPLE, *ALL.values()]),
    st.dictionaries(
        st.sampled_from(["path", "edits", "old_string", "new_string", "limit", "pattern"])
        | st.text(max_size=6),
        JSON,
        max_size=4,
    ),
)
def test_any_json_is_parsed_or_explained(tool: Tool, arguments: dict[str, Any]) -> None:
    problem = None
    try:
        assert isinstance(parse_arguments(tool, arguments), tool.arguments)
    except ToolError as error:
        problem = error
    assert problem is None or (problem.error_kind == "invalid_arguments" and str(problem).strip())
