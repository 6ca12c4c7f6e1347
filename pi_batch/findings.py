"""The remarks of a review, read out of a task's structured output.

The shape is that of the built-in reviews: an object with `findings`, each with file, line, severity and
message. Whatever else a model or a spec of one's own puts there is read as far as it makes sense.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Literal, cast

from msgspec import Struct

from pi_batch.encoders import plain_line

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Finding(Struct, frozen=True):
    """One remark about a line of a file."""

    file: str
    """Relative to the workspace; never outside of it."""
    line: int
    """From 1."""
    severity: Severity
    message: str

    def __str__(self) -> str:
        """`file:line: severity: message`, as editors parse it."""
        return f"{plain_line(self.file, 300)}:{self.line}: {self.severity}: {plain_line(self.message, 1000)}"


def findings_of(output: Any) -> tuple[Finding, ...]:
    """The findings in a structured output, in its order; what names no file is left out."""
    items = output.get("findings") if isinstance(output, Mapping) else None
    read = (_finding(item) for item in (items if isinstance(items, list | tuple) else []))
    return tuple(finding for finding in read if finding is not None)


def _finding(item: Any) -> Finding | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("file"), str):
        return None
    path = PurePosixPath(item["file"].replace("\\", "/"))
    if not path.parts or path.is_absolute() or ".." in path.parts:
        return None
    line, severity = item.get("line"), item.get("severity")
    is_number = isinstance(line, int) and not isinstance(line, bool) and line > 0
    return Finding(
        str(path),
        cast(int, line) if is_number else 1,
        cast(Severity, severity) if severity in SEVERITIES else "error",
        str(item.get("message", "")),
    )
