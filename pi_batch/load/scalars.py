"""Texts as values, by the YAML 1.2 core schema: never a date, never `no` as false, never 1_000."""

from __future__ import annotations

import math
import re
from typing import Any

from pi_batch.load.nodes import Fields, Items, Node, Scalar

MAX_DIGITS = 18
"""Longer whole numbers are no counts, and JSON readers round them."""

_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def as_integer(text: str) -> int | None:
    """A whole number, or None where the text is none."""
    if len(text) > MAX_DIGITS + 2:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    return int(text, 0) if _BASED.fullmatch(text) else None


def as_number(text: str) -> int | float | None:
    """A finite number, whole where it is written so; None where the text is none."""
    whole = as_integer(text)
    if whole is not None or not _FLOAT.fullmatch(text):
        return whole
    number = float(text)
    return number if math.isfinite(number) else None


def as_boolean(text: str) -> bool | None:
    """True or False, or None where the text is neither."""
    return {"true": True, "false": False}.get(text)


def core_value(node: Node) -> Any:
    """A whole tree as JSON-like values, for fields whose shape is not ours (a JSON Schema)."""
    match node:
        case Fields():
            return {entry.key: core_value(entry.node) for entry in node.entries}
        case Items():
            return [core_value(item) for item in node.nodes]
        case Scalar():
            return _core_scalar(node)


def _core_scalar(node: Scalar) -> Any:
    if node.style != "plain":
        return node.text
    if node.is_null or node.text in ("Null", "NULL"):
        return None
    if node.text in ("True", "TRUE", "False", "FALSE"):
        return node.text[0] == "T"
    flag = as_boolean(node.text)
    if flag is not None:
        return flag
    number = as_number(node.text)
    return node.text if number is None else number
