"""What the argument models of all tools share: pi's spellings, and tolerance for habits."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

PATH_SPELLINGS = ("file_path", "filePath", "filename", "file", "directory", "dir")
"""Names that models use for a path."""

Limit = Annotated[int, Meta(ge=1)]
"""At most so many; or a line, from 1."""


def from_one(value: Any) -> Any:
    """Models that count from 0 mean the first line."""
    return 1 if value in (0, "0") and not isinstance(value, bool) else value
