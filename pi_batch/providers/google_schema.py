"""Tool schemas as Gemini takes them.

Source: https://ai.google.dev/api/caching#Schema. `parameters` is a subset of OpenAPI, and a word outside of
it refuses the whole request; so a schema is rewritten into the subset. Bounds that it lacks are left out:
calls are checked by the whole schema before they are carried out. A tool whose shape it cannot say (objects
of any names, schemas that hold themselves) goes as it is into `parametersJsonSchema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PLAIN = frozenset(
    {
        *("title", "description", "minItems", "maxItems", "minProperties", "maxProperties"),
        *("minLength", "maxLength", "pattern", "minimum", "maximum", "default"),
    }
)
"""Words that both know."""
_FORMATS = ("enum", "date-time")
_NAME_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
MAX_DEPTH = 12

Schema = Mapping[str, Any]


class _Unsayable(Exception):
    """The subset has no words for this schema."""


def declared_parameters(schema: Schema) -> dict[str, Any]:
    """The field of a declaration that says what a tool takes; nothing for a tool that takes nothing."""
    if not schema.get("properties") and schema.get("additionalProperties") in (None, False):
        return {}
    try:
        return {"parameters": _subset(schema, schema, 0)}
    except _Unsayable:
        return {"parametersJsonSchema": _without_const(schema)}


def _subset(node: Any, root: Schema, depth: int) -> dict[str, Any]:
    """One schema in the subset. Raises: _Unsayable."""
    if depth > MAX_DEPTH or not isinstance(node, Mapping):
        raise _Unsayable
    node = _resolved(node, root)
    said: dict[str, Any] = {key: node[key] for key in _PLAIN & node.keys()}
    options = [option for key in ("anyOf", "oneOf") for option in node.get(key) or ()]
    if options:
        return _nullable(said, options, root, depth)
    kinds = node.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    kinds, is_nullable = [kind for kind in kinds if kind != "null"], "null" in kinds
    if is_nullable:
        said["nullable"] = True
    if len(kinds) > 1:
        said["anyOf"] = [_subset({**node, "type": kind}, root, depth + 1) for kind in kinds]
        return said
    kind = kinds[0] if kinds and kinds[0] else _implied(node)
    said["type"] = kind
    match kind:
        case "string":
            _say_string(said, node)
        case "array":
            said["items"] = _subset(node.get("items") or None, root, depth + 1)
        case "object":
            _say_object(said, node, root, depth)
        case "number" | "integer" | "boolean":
            if node.get("format") in ("float", "double", "int32", "int64"):
                said["format"] = node["format"]
        case _:
            raise _Unsayable
    return said


def _resolved(node: Schema, root: Schema) -> Schema:
    """A schema with what it refers to in its place. Raises: _Unsayable."""
    for _ in range(MAX_DEPTH):
        parts = node.get("allOf")
        if "$ref" in node:
            inner = _referred(str(node["$ref"]), root)
        elif isinstance(parts, list) and len(parts) == 1:
            inner = parts[0]
        else:
            break
        if not isinstance(inner, Mapping):
            raise _Unsayable
        node = {**inner, **{key: value for key, value in node.items() if key not in ("$ref", "allOf")}}
    if {"$ref", "allOf", "not", "if"} & node.keys():
        raise _Unsayable
    return node


def _referred(reference: str, root: Schema) -> Any:
    """What `#/$defs/x` stands for; None where there is nothing."""
    place: Any = root if reference.startswith("#/") else None
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        place = place.get(name) if isinstance(place, Mapping) else None
    return place


def _nullable(said: dict[str, Any], options: list[Any], root: Schema, depth: int) -> dict[str, Any]:
    """Alternatives; null among them is a flag, and one that is left alone stands for itself."""
    kinds = [option for option in options if option != {"type": "null"}]
    flag = {"nullable": True} if len(kinds) < len(options) else {}
    known = [_subset(option, root, depth + 1) for option in kinds]
    if len(known) == 1:
        return {**known[0], **said, **flag}
    return {**said, "anyOf": known, **flag}


def _implied(node: Schema) -> str:
    """The type of a schema that names none. Raises: _Unsayable."""
    if "properties" in node:
        return "object"
    if "items" in node:
        return "array"
    if any(isinstance(value, str) for value in _values(node)):
        return "string"
    raise _Unsayable


def _values(node: Schema) -> list[Any]:
    """The values that a schema allows; empty for any."""
    if "const" in node:
        return [node["const"]]
    values = node.get("enum")
    return values if isinstance(values, list) else []


def _say_string(said: dict[str, Any], node: Schema) -> None:
    values = [value for value in _values(node) if value is not None]
    if values:
        if not all(isinstance(value, str) and value for value in values):
            raise _Unsayable
        said["enum"], said["format"] = values, "enum"
    elif node.get("format") in _FORMATS:
        said["format"] = node["format"]


def _say_object(said: dict[str, Any], node: Schema, root: Schema, depth: int) -> None:
    """An object with named properties: one without any must not be there. Raises: _Unsayable."""
    properties = node.get("properties")
    is_open = isinstance(node.get("additionalProperties"), Mapping)
    if not isinstance(properties, Mapping) or not properties or is_open or "patternProperties" in node:
        raise _Unsayable
    said["properties"] = {name: _subset(value, root, depth + 1) for name, value in properties.items()}
    required = [name for name in node.get("required") or () if name in properties]
    if required:
        said["required"] = required


def _without_const(node: Any, *, is_name_map: bool = False) -> Any:
    """JSON Schema in which a `const` is an `enum` of one: Gemini reads only the latter (pi#11308)."""
    if isinstance(node, list | tuple):
        return [_without_const(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    rewritten = {
        key: _without_const(value, is_name_map=not is_name_map and key in _NAME_MAPS)
        if is_name_map or key not in ("const", "enum", "default", "examples", "required")
        else value
        for key, value in node.items()
        if is_name_map or key != "$schema"
    }
    if not is_name_map and isinstance(rewritten.get("const"), str | int | float):
        rewritten["enum"] = [rewritten.pop("const")]
    return rewritten
