"""JSON as model services take it and give it.

Out: valid UTF-8, no lone surrogate, no NaN, nothing between tokens. In: bytes that may hold bad UTF-8,
and arguments that a model wrote, which count only as a whole object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, NoReturn

from pi_batch.jsonl import is_too_deep
from pi_batch.messages import JsonObject


def dumps(value: object) -> bytes:
    """A value as compact JSON. A number that JSON lacks becomes null, a lone surrogate U+FFFD."""
    try:
        text = _encode(value)
    except ValueError:
        text = _encode(_finite(value))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return whole_characters(text).encode()


def whole_characters(text: str) -> str:
    """Text without surrogates: halves that belong together become one character, others U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def loads(data: bytes) -> Any:
    """The value of one event's data; None for what is no JSON."""
    text = data.decode("utf-8", "replace")
    try:
        value, end = _decode(text)
        if end == len(text):
            return value
        return None if text[end:].strip() else value
    except (ValueError, RecursionError):
        stripped = text.lstrip()
        return loads(stripped.encode()) if stripped != text else None


def parse_arguments(text: str) -> JsonObject | None:
    """A call's arguments: {} for nothing at all, None for anything that is not one JSON object.

    None for one that is nested too deeply, too. No repair: half an argument must never be carried out.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not is_too_deep(value) else None


def _plain(value: object) -> object:
    """Mappings that are no dict (frozen ones)."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain).encode
_decode = json.JSONDecoder().raw_decode
