"""One thing that `pi-batch doctor` looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found."""

    state: Literal["ok", "note", "missing"]
    name: str
    text: str
