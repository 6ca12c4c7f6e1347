"""Comparison with files that were looked at by a person; PI_BATCH_UPDATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """The text is what the golden file holds, byte for byte."""
    path = GOLDEN / name
    if os.environ.get("PI_BATCH_UPDATE_GOLDEN") == "1":
        path.write_bytes(text.encode("utf-8"))
    assert text.encode("utf-8") == path.read_bytes(), f"{name}: run with PI_BATCH_UPDATE_GOLDEN=1 and look"
