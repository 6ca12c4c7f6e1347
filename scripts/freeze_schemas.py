"""Freeze what the tools take into pi_batch/tools/schemas.json; run it when a tool's arguments change.

    python scripts/freeze_schemas.py

A test compares the file with the models.
"""

# ruff: noqa: INP001 - a script, no package

from __future__ import annotations

import json

from pi_batch.codemode.arguments import CodemodeArguments
from pi_batch.codemode.tool import Codemode
from pi_batch.tools import TABLE, load
from pi_batch.tools.declare import made_schema
from pi_batch.tools.later import FROZEN


def frozen() -> str:
    """The file's content."""
    schemas = {place: made_schema(load(name).arguments) for name, place in TABLE.items()}  # type: ignore[arg-type]
    schemas[f"{Codemode.__module__}:{Codemode.__qualname__}"] = made_schema(CodemodeArguments)
    return json.dumps(schemas, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FROZEN.write_text(frozen(), encoding="utf-8")
