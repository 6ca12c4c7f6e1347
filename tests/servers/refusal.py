"""A service's no, and the checks that all wires share."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")

_MAGIC = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


class Refusal(Exception):
    """A request that the service does not take."""

    def __init__(self, message: str, *, code: str | None = None, status: int = 400, param: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.param = param


def need(is_right: object, message: str, **rest: Any) -> None:
    """Refuse unless a rule holds."""
    if not is_right:
        raise Refusal(message, **rest)


def read_json(body: bytes) -> dict[str, Any]:
    """The request's object: valid UTF-8, no NaN, no lone surrogate."""
    try:
        text = body.decode("utf-8")
        value = json.loads(text, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise Refusal("the body is not valid UTF-8", code="invalid_json") from None
    except ValueError as error:
        raise Refusal(f"could not parse the JSON body: {error}", code="invalid_json") from None
    need(isinstance(value, dict), "the body is no JSON object", code="invalid_json")
    for string in strings(value):
        need(
            not any("\ud800" <= char <= "\udfff" for char in string), "a lone surrogate", code="invalid_json"
        )
        need("\0" not in string, "a NUL", code="invalid_json")
    return dict(value)


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def only(value: object, allowed: str, where: str, refuse: Callable[[str], Refusal]) -> dict[str, Any]:
    """An object with no field besides the allowed ones (blank-separated)."""
    need(isinstance(value, dict), f"{where}: need an object")
    assert isinstance(value, dict)
    for key in value:
        if key not in allowed.split():
            raise refuse(f"{where}.{key}")
    return value


def check_image(media_type: str, data: str, where: str) -> int:
    """Base64 whose bytes are what the type says; how many bytes they are."""
    need(media_type in _MAGIC, f"{where}: media type {media_type!r}: need png, jpeg, gif or webp")
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Refusal(f"{where}: invalid base64") from None
    need(content.startswith(_MAGIC[media_type]), f"{where}: the image is no {media_type}")
    return len(content)


def check_schema(schema: object, where: str) -> None:
    """A tool's parameters: an object at the root, arrays with items."""
    need(isinstance(schema, dict), f"{where}: need an object")
    assert isinstance(schema, dict)
    need(
        schema.get("type") == "object", f"{where}: schema must be of type object, got {schema.get('type')!r}"
    )
    _check_arrays(schema, where)


def _check_arrays(node: object, where: str) -> None:
    if isinstance(node, dict):
        is_array = node.get("type") == "array"
        need(not is_array or "items" in node or "prefixItems" in node, f"{where}: array schema missing items")
        for value in node.values():
            _check_arrays(value, where)
    elif isinstance(node, list):
        for value in node:
            _check_arrays(value, where)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
