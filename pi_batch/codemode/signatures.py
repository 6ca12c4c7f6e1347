"""Tools as Python functions: what a script's author reads instead of JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pi_batch.codemode.values import ToolSignature
from pi_batch.messages import ToolDeclaration

INLINE_CHARS = 8000
"""How much of a declaration may be signatures; what is beyond is found by `search_tools`."""

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "None",
}


def tool_signature(declaration: ToolDeclaration, returns: str) -> ToolSignature:
    """The tool as a script calls it: required arguments first, then the others in their order.

    `returns` is a Python annotation; what stands in it behind a `#` ends the line as a comment.
    """
    properties: Mapping[str, Any] = declaration.parameters.get("properties", {})
    required = tuple(name for name in declaration.parameters.get("required", ()) if name in properties)
    optional = tuple(name for name in properties if name not in required)
    parts = [f"{name}: {python_type(properties[name])}" for name in required]
    parts += [_optional(name, properties[name]) for name in optional]
    signature = f"{declaration.name}({', '.join(parts)}) -> {returns}"
    return ToolSignature(
        declaration.name, (*required, *optional), required, signature, declaration.description
    )


def python_type(schema: Any) -> str:
    """A JSON Schema as a Python annotation; `Any` where none says it."""
    if not isinstance(schema, Mapping):
        return "Any"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(python_type(branch) for branch in schema[key]))
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return f"Literal[{', '.join(_literal(value) for value in schema['enum'])}]"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_TYPES.get(one, "Any") for one in kind)
    name = _TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"
    if name == "list" and "items" in schema:
        return f"list[{python_type(schema['items'])}]"
    if name == "dict" and isinstance(schema.get("properties"), Mapping):
        fields = ", ".join(f"{key!r}: {python_type(value)}" for key, value in schema["properties"].items())
        return f"{{{fields}}}"
    return name


def inline(signatures: Iterable[ToolSignature], max_chars: int = INLINE_CHARS) -> str:
    """One line a tool while they fit; the names of those that do not are left to `search_tools`."""
    lines: list[str] = []
    left, left_out = max_chars, 0
    for tool in signatures:
        line = f"tools.{tool.signature}"
        if len(line) + 1 > left or left_out:
            left_out += 1
            continue
        left -= len(line) + 1
        lines.append(line)
    if left_out:
        lines.append(f'# {left_out} more: search_tools("words") finds them, describe_tool(name) explains one')
    return "\n".join(lines)


def _optional(name: str, schema: Any) -> str:
    kind = python_type(schema)
    if isinstance(schema, Mapping) and "default" in schema:
        return f"{name}: {kind} = {_literal(schema['default'])}"
    return f"{name}: {kind} = None" if kind in ("Any", "None") else f"{name}: {kind} | None = None"


def _literal(value: Any) -> str:
    """A JSON value as Python."""
    if value is None or isinstance(value, bool | str):
        return repr(value)
    return json.dumps(value)
