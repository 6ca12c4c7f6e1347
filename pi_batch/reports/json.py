"""run.json: a `BatchResult` as JSON, field for field."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from pi_batch.results import BatchResult, RunResult

MAX_DEPTH = 100
"""Deeper values (a model's structured answer may be any JSON) are cut: readers have limits too."""

_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: JSON could hold them, the databases and parsers that read reports cannot."""


class Json:
    """The machine's report: two-space indent, fields in the order of `results.py`."""

    name = "json"

    def render(self, batch: BatchResult) -> str:
        """The whole document, valid JSON without NaN and valid UTF-8."""
        return f"{_text(batch)}\n"


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
        case _ if dataclasses.is_dataclass(value):
            names = (field.name for field in dataclasses.fields(value))
            return {name: json_value(getattr(value, name), depth + 1) for name in names}
        case _:
            return _UNWRITABLE.sub("\ufffd", str(value))


def _text(value: BatchResult | RunResult) -> str:
    return json.dumps(json_value(value), ensure_ascii=False, indent=2, allow_nan=False)
