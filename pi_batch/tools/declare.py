"""Between a tool's pydantic model and JSON: the schema that goes out, the arguments that come in."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pi_batch.errors import ToolError
from pi_batch.messages import JsonObject, ToolDeclaration
from pi_batch.protocols import Tool
from pi_batch.tools.later import frozen_schema

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

SHOWN_CHARS = 80
"""How much of a wrong value an error quotes."""


def declaration(tool: Tool) -> ToolDeclaration:
    """The tool as a model sees it: JSON Schema in the words that every provider takes.

    An object at the root, no $ref, no anyOf with null (an optional key is one that is not required), no
    titles; every array says what its items are.
    """
    return ToolDeclaration(tool.name, tool.description, frozen_schema(tool) or made_schema(tool.arguments))


def parse_arguments(tool: Tool, arguments: JsonObject) -> BaseModel:
    """A call's arguments as the tool's own model.

    Null for a key that may be left out counts as left out; numbers written as strings are numbers.
    Raises: ToolError(invalid_arguments) whose one text names every field that is wrong, what was got and
    what is expected.
    """
    from pydantic import ValidationError

    model = tool.arguments
    required = {name for name, field in model.model_fields.items() if field.is_required()}
    given = {key: value for key, value in arguments.items() if value is not None or key in required}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems = [_problem(model, detail) for detail in error.errors(include_url=False)]
    raise ToolError(
        f"{tool.name}: invalid arguments, nothing was run: {'; '.join(problems)}. {_signature(tool)}",
        error_kind="invalid_arguments",
    )


# --- out ------------------------------------------------------------------------------------------


@cache
def made_schema(model: type[BaseModel]) -> JsonObject:
    """The schema of a tool's arguments; made once a process, as every task has the same tools."""
    schema = model.model_json_schema()
    plain = _plain(schema, schema.get("$defs", {}))
    plain.setdefault("properties", {})
    plain.pop("description", None)
    return plain


def _plain(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """One schema node without references, titles and null branches."""
    if "anyOf" in node:
        node = _without_null(node)
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    plain: dict[str, Any] = {}
    for key, value in node.items():
        match key:
            case "title" | "$defs":
                continue
            case "default" if value is None:
                continue
            case "properties":
                plain[key] = {name: _plain(child, definitions) for name, child in value.items()}
            case "description":
                plain[key] = " ".join(value.split())
            case "items":
                plain[key] = _plain(value, definitions)
            case "anyOf":
                plain[key] = [_plain(child, definitions) for child in value]
            case _:
                plain[key] = value
    if plain.get("type") == "array":
        plain.setdefault("items", {"type": "string"})
    return plain


def _without_null(node: Mapping[str, Any]) -> dict[str, Any]:
    branches = [branch for branch in node["anyOf"] if branch.get("type") != "null"]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**branches[0], **rest} if len(branches) == 1 else {**rest, "anyOf": branches}


# --- in -------------------------------------------------------------------------------------------


def _problem(model: type[BaseModel], detail: ErrorDetails) -> str:
    """One wrong field: where, what was got, what is expected."""
    where = _where(detail["loc"])
    kind = detail["type"]
    if kind == "missing":
        return f"{where}: missing"
    if kind == "extra_forbidden":
        return _unknown_key(model, where, detail["loc"])
    expected = detail["msg"].partition(", unable to")[0]
    for prefix in ("Input should be ", "Value error, "):
        expected = expected.removeprefix(prefix)
    if kind == "value_error":
        return f"{where}: {expected}" if where else expected
    return f"{where}: got {_shown(detail['input'])}, expected {expected}"


def _unknown_key(model: type[BaseModel], where: str, loc: tuple[int | str, ...]) -> str:
    key = str(loc[-1])
    spellings = dict(_spellings(model))
    if len(loc) == 1 and key in spellings:
        return f"{where}: given besides {spellings[key]!r}, which means the same; give only one"
    near = difflib.get_close_matches(key, sorted(spellings), n=1) if len(loc) == 1 else []
    hint = f", did you mean {spellings[near[0]]!r}?" if near else ""
    return f"{where}: unknown argument{hint}"


def _spellings(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Each accepted key with the name that it stands for."""
    for name, field in model.model_fields.items():
        yield name, name
        for choice in getattr(field.validation_alias, "choices", ()):
            if isinstance(choice, str):
                yield choice, name


def _where(loc: tuple[int | str, ...]) -> str:
    """As `edits[0].new_string`."""
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)[:SHOWN_CHARS]
    return text


def _shown(value: Any) -> str:
    """A wrong value as JSON, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… ({len(text)} characters)"


def _signature(tool: Tool) -> str:
    """What would have been right: `path (string), offset? (integer)`."""
    schema = declaration(tool).parameters
    required = schema.get("required", ())
    fields = (
        f"{name}{'' if name in required else '?'} ({node.get('type', 'value')})"
        for name, node in schema["properties"].items()
    )
    return f"Arguments of {tool.name}: {', '.join(fields)}."
