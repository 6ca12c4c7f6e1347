"""run.json: a `BatchResult` as JSON, field for field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from pi_batch.reports.kept import Kept
from pi_batch.results import BatchResult, RunResult

MAX_DEPTH = 100
"""Deeper values (a model's structured answer may be any JSON) are cut: readers have limits too."""

LISTS = ("planned", "results")
"""Fields of a batch that grow with its tasks."""

_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: JSON could hold them, the databases and parsers that read reports cannot."""


class Json:
    """The machine's report: two-space indent, fields in the order of `results.py`.

    What stands in a list of the batch is written once and kept while it stays the same value.
    """

    name = "json"

    def __init__(self) -> None:
        self._texts = {name: Kept[str]() for name in LISTS}

    def render(self, batch: BatchResult) -> str:
        """The whole document, valid JSON without NaN and valid UTF-8."""
        fields = ",\n".join(
            f"  {_text(name)}: {self._field(batch, name)}" for name in batch.__struct_fields__
        )
        return f"{{\n{fields}\n}}\n"

    def _field(self, batch: BatchResult, name: str) -> str:
        value = getattr(batch, name)
        if name not in LISTS or not value:
            return _text(value, 1)
        items = self._texts[name].each(value, lambda item: f"    {_text(item, 2)}")
        return "[\n" + ",\n".join(items) + "\n  ]"


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
    text = json.dumps(json_value(value, depth), ensure_ascii=False, indent=2, allow_nan=False)
    return text.replace("\n", "\n" + "  " * depth)
