"""Argument models that are imported by the first call.

pydantic costs 60 ms and more to import, and a model's schema 1 ms: as much as the rest of a start. What a
tool declares is therefore frozen into `schemas.json`; its model is loaded when there is a call to validate.
"""

from __future__ import annotations

import importlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pi_batch.messages import JsonObject

FROZEN: Final = Path(__file__).with_name("schemas.json")
"""By "module:Class" of a tool; `scripts/freeze_schemas.py` writes it."""


class Later:
    """A tool's `arguments`, by "module:Class"."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __get__(self, tool: object, kind: type[object]) -> type[BaseModel]:
        module, _, name = self._place.partition(":")
        return cast("type[BaseModel]", getattr(importlib.import_module(module), name))


@cache
def _frozen() -> dict[str, JsonObject]:
    content: dict[str, JsonObject] = json.loads(FROZEN.read_bytes())
    return content


def frozen_schema(tool: object) -> JsonObject | None:
    """What a tool of this package takes; None for any other."""
    return _frozen().get(place_of(tool))


def place_of(tool: object) -> str:
    """The "module:Class" of a tool."""
    return f"{type(tool).__module__}:{type(tool).__qualname__}"
