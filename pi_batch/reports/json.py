"""run.json: a `BatchResult` as JSON, field for field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from pi_batch.results import BatchResult, PlannedResult, RunResult

MAX_DEPTH = 100
"""Deeper values (a model's structured answer may be any JSON) are cut: readers have limits too."""

LISTS = ("planned", "results")
"""Fields of a batch that grow with its tasks."""

_ENCODER = msgspec.json.Encoder()
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: JSON could hold them, the databases and parsers that read reports cannot."""


class Json:
    """The machine's report: two-space indent, fields in the order of `results.py`."""

    name = "json"

    def render(self, batch: BatchResult) -> str:
        """The whole document, valid JSON without NaN and valid UTF-8."""
        pieces = ["{"]
        for name in batch.__struct_fields__:
            pieces += ["," if len(pieces) > 1 else "", f"\n  {_text(name)}: "]
            value = getattr(batch, name)
            if name in LISTS and value:
                items = (f"{',' if index else '['}\n    {_text(item, 2)}" for index, item in enumerate(value))
                pieces += [*items, "\n  ]"]
            else:
                pieces.append(_text(value, 1))
        return "".join([*pieces, "\n}\n"])


def result_json(result: RunResult) -> str:
    """One task's result as JSON, as it stands in `results`; no newline at the end."""
    return _text(result)


def json_value(value: Any, depth: int = 0) -> Any:
    """Any value as what `json` writes: no NaN, no infinity, no lone surrogate, keys as strings."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return _UNWRITABLE.sub("\ufffd", value)
        case float():
            return value if math.isfinite(value) else None
        case _ if depth >= MAX_DEPTH:
            return "(nested too deeply to be shown)"
        case Mapping():
            return {json_value(str(key)): json_value(item, depth + 1) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [json_value(item, depth + 1) for item in value]
        case Struct():
            names = value.__struct_fields__
            return {name: json_value(getattr(value, name), depth + 1) for name in names}
        case _:
            return _UNWRITABLE.sub("\ufffd", str(value))


def _text(value: Any, depth: int = 0) -> str:
    """A value as it stands so deep in a document; a string of JSON never holds a line break itself."""
    text = msgspec.json.format(_compact(value, depth), indent=2).decode()
    return text.replace("\n", "\n" + "  " * depth)


def _compact(value: Any, depth: int) -> bytes:
    """A value on one line: by msgspec, 20 times as fast, where it holds nothing that has to be looked at."""
    if isinstance(value, PlannedResult | RunResult) and not _holds_foreign_json(value):
        try:
            content = _ENCODER.encode(value)
        except (UnicodeError, TypeError, ValueError):
            content = b"\\u0000"  # a lone surrogate, say
        if b"\\u0000" not in content:
            return content
    return json.dumps(json_value(value, depth), ensure_ascii=False, allow_nan=False).encode()


def _holds_foreign_json(value: PlannedResult | RunResult) -> bool:
    """True where a model's own JSON stands in a result, of any depth."""
    if not isinstance(value, RunResult):
        return False
    return value.structured_output is not None or bool(value.permission_denials)
