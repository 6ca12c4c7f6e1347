"""One thing that `pi-batch doctor` looked at."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Finding(Struct, frozen=True):
    """What was found."""

    state: Literal["ok", "note", "missing"]
    name: str
    text: str
