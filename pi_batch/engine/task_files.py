"""What a task leaves in the run directory besides its logs: the patch and the answer."""

from __future__ import annotations

import json
from typing import Any

from pi_batch.engine.task_parts import TaskParts
from pi_batch.errors import PolicyError
from pi_batch.files import write_atomic

PATCH_NAMES = ("changes.patch", "changes.partial.patch")
"""Of a task that came to its end, and of one that did not."""


def write_patch(parts: TaskParts, patch: bytes, *, is_whole: bool) -> str | None:
    """Write the patch; its name relative to run.json, None for an empty one.

    Raises: PolicyError where it holds a secret value; LogWriteError.
    """
    if not patch:
        return None
    if parts.mask.mask_bytes(patch) != patch:
        raise PolicyError("the patch holds a secret value: it is withheld")
    name = PATCH_NAMES[0 if is_whole else 1]
    for other in {*PATCH_NAMES} - {name}:
        (parts.task_dir / other).unlink(missing_ok=True)
    write_atomic(parts.task_dir / name, patch)
    return f"{parts.task_dir_name}/{name}"


def write_answer(parts: TaskParts, structured_output: Any, answer: str | None) -> None:
    """Write the final answer, as JSON where the spec has a schema for it. Raises: LogWriteError."""
    if structured_output is not None:
        text = json.dumps(structured_output, ensure_ascii=False, indent=2) + "\n"
        write_atomic(parts.task_dir / "answer.json", text.encode("utf-8", "replace"))
    elif answer:
        write_atomic(parts.task_dir / "answer.md", (answer + "\n").encode("utf-8", "replace"))
