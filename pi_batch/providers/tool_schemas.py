"""Tool schemas as the wires take them; written once per request's head, so clarity over speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COMBINATORS = ("anyOf", "oneOf", "allOf")


def chat_parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """For Chat Completions: an object at the root, `items` on every array."""
    root = _with_items(schema)
    return root if root.get("type") == "object" else {**root, "type": "object"}


def messages_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """For Messages: an object at the root and no alternatives there; `$defs` stay."""
    root = {key: value for key, value in schema.items() if key not in _COMBINATORS}
    return root if root.get("type") == "object" else {**root, "type": "object"}


def _with_items(node: Any) -> Any:
    """The schema with `items: {}` where an array says nothing of its items."""
    if isinstance(node, Mapping):
        checked = {key: _with_items(value) for key, value in node.items()}
        kind = checked.get("type")
        is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
        if is_array and "items" not in checked and "prefixItems" not in checked:
            checked["items"] = {}
        return checked
    if isinstance(node, list | tuple):
        return [_with_items(item) for item in node]
    return node
