"""JSON Lines that every reader takes: valid UTF-8, one object a line, no lone surrogate, no NUL, no NaN."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
NUL_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
UNCLEAN_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
MAX_DEPTH = 200
"""Values nested deeper are cut where JSON's own writer gives up."""
TOO_DEEP = "(nested too deeply)"
MAX_FOREIGN_DEPTH = 100
"""What a model may nest: nobody needs more, and whatever walks a value may do so by recursion."""


def encode_line(value: Mapping[str, Any]) -> str:
    """One object on one line, without the LF; what JSON or UTF-8 cannot hold is replaced.

    NUL and lone surrogates become U+FFFD, NaN and infinities null, foreign objects their repr.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        text = json.dumps(_plain(value, 0), ensure_ascii=False, separators=(",", ":"))
    if "\\u0000" in text:
        text = NUL_ESCAPE.sub(rf"\1{REPLACEMENT}", text)
    return text if text.isascii() else _without_surrogates(text)


def decode_line(line: bytes) -> dict[str, Any] | None:
    """The object on a line; None when there is no whole one. Its strings are clean as `encode_line`'s."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return _clean(value) if UNCLEAN_ESCAPE.search(line) else value


def is_too_deep(value: Any, max_depth: int = MAX_FOREIGN_DEPTH) -> bool:
    """True for a JSON value whose lists and objects are nested deeper."""
    level = [value]
    for _ in range(max_depth):
        if not level:
            return False
        level = [inner for item in level for inner in _items(item)]
    return any(isinstance(item, Mapping | list | tuple) for item in level)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _clean(value: Any) -> Any:
    match value:
        case str():
            return _without_surrogates(value.replace("\0", REPLACEMENT))
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case list():
            return [_clean(item) for item in value]
        case _:
            return value


def _without_surrogates(text: str) -> str:
    """Two halves of a pair become one character, other surrogates U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _plain(value: Any, depth: int) -> Any:
    """The same value in JSON's own types."""
    if depth > MAX_DEPTH:
        return TOO_DEEP
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(key): _plain(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, depth + 1) for item in value]
        case _:
            return repr(value)
