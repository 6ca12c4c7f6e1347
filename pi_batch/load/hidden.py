"""A benchmark task's files as the plan needs them: all there, none of them in sight, and their digest."""

from __future__ import annotations

import os
from pathlib import Path

from pi_batch.load.problems import Problems
from pi_batch.load.task import LoadedTask
from pi_batch.task_content import task_digest
from pi_batch.wording import quoted


def checked_digest(task: LoadedTask, problems: Problems) -> str:
    """The digest of a task with hidden files, empty for others; what is wrong with its files is noted."""
    spec = task.spec
    workspace = Path(os.path.normpath(task.directory / spec.workspace.path))
    for key, names in (("hidden", spec.hidden), ("solution", filter(None, (spec.solution,)))):
        for name in names:
            message = _complaint(Path(os.path.normpath(task.directory / name)), name, workspace)
            if message:
                problems.add(task.at(key) or task.node, task.where.down(key), message)
                return ""
    if not spec.hidden:
        return ""
    try:
        return task_digest(task.source.path, workspace, [task.directory / name for name in spec.hidden])
    except OSError as error:
        where = error.filename or workspace
        message = f"{where}: cannot be read: {error.strerror or error}"
        problems.add(task.at("hidden") or task.node, task.where.down("hidden"), message)
        return ""


def _complaint(path: Path, name: str, workspace: Path) -> str:
    if not path.exists():
        return f"got {quoted(name)}, which does not exist: {path}"
    if path.is_relative_to(workspace) or workspace.is_relative_to(path):
        return f"got {quoted(name)}, which the workspace would show: put it beside"
    return ""
