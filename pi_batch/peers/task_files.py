"""A task to be written as one of ours: task.yaml, workspace, hidden checks, reference solution."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from pi_batch.templates import MARKERS

MAX_ID_CHARS = 100
NOT_SHOWN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that stand in no line of YAML."""
BLOCK_LINE = re.compile("[^\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*")


class TaskFile(Struct, frozen=True):
    """A file of a task."""

    content: bytes
    is_executable: bool = False


Files = Mapping[str, TaskFile]
"""Path with forward slashes -> file."""


class Imported(Struct, frozen=True):
    """A task of another format, ready to be written."""

    id: str
    prompt: str
    """Plain text, no template."""
    judge: str
    """The command that judges a clean copy."""
    judge_dir: str
    """The name that its hidden files are laid under."""
    hidden: Files
    """Below `judge_dir`."""
    workspace: Files = {}
    solution: Files = {}
    """What the model `oracle` does; empty: it has none."""
    title: str = ""
    tags: tuple[str, ...] = ()
    wall_s: float | None = None
    """For the agent."""
    judge_timeout_s: float = 600.0
    network: bool = False
    setup: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What is to be known before it is run, one line each."""


class Refused(Struct, frozen=True):
    """A task that cannot be had here, and why, one line each."""

    id: str
    reasons: tuple[str, ...]


def task_id(name: str) -> str:
    """A name as an id of ours: letters, digits, `.`, `_` and single `-`."""
    cleaned = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._-]+", "-", name)).strip("-._")
    return cleaned[:MAX_ID_CHARS] or "task"


def write_task(task: Imported, directory: Path) -> None:
    """Write a task into a directory of its own. Raises: OSError."""
    (directory / "workspace").mkdir(parents=True, exist_ok=True)
    write_files(task.workspace, directory / "workspace")
    write_files(task.hidden, directory / task.judge_dir)
    if task.solution:
        write_files(task.solution, directory / "solution")
    (directory / "task.yaml").write_text(task_yaml(task), encoding="utf-8")


def write_files(files: Files, directory: Path) -> None:
    """Write files below a directory. Raises: OSError."""
    for name, file in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(0o755 if file.is_executable else 0o644)


def task_yaml(task: Imported) -> str:
    """The spec; every text in it is quoted, and no template in the prompt is rendered."""
    budget = [f"budget: {{wall_s: {task.wall_s:g}}}"] if task.wall_s else []
    lines = [
        "version: 1",
        f"id: {_quoted(task.id)}",
        *([f"title: {_quoted(task.title)}"] if task.title else []),
        *([f"tags: [{', '.join(_quoted(tag) for tag in task.tags)}]"] if task.tags else []),
        f"prompt: {_text(escaped(task.prompt))}",
        "context_files: false",
        f"workspace: {{path: workspace, isolation: copy{_setup(task.setup)}}}",
        *([f"protect: [{', '.join(_quoted(glob) for glob in task.protect)}]"] if task.protect else []),
        *(["permissions: {network: true}"] if task.network else []),
        *budget,
        f"hidden: [{_quoted(task.judge_dir)}]",
        *(["solution: solution"] if task.solution else []),
        f"verify: [{{name: hidden checks, run: {_quoted(task.judge)}, timeout_s: {task.judge_timeout_s:g}}}]",
    ]
    return "\n".join(lines) + "\n"


def suite_yaml(title: str) -> str:
    """A suite of all tasks beside it."""
    return f"version: 1\ntitle: {_quoted(title)}\ntasks: ['*/task.yaml']\n"


def escaped(text: str) -> str:
    """Text that a template gives back as it is; a NUL, which no spec holds, is replaced."""
    text = text.replace("\0", "\ufffd")
    for marker in MARKERS:
        text = text.replace(marker, f"\0{MARKERS.index(marker)}")
    for index, marker in enumerate(MARKERS):
        text = text.replace(f"\0{index}", f"{{{{ '{marker}' }}}}")
    return text


def _setup(commands: Sequence[str]) -> str:
    return f", setup: [{', '.join(_quoted(command) for command in commands)}]" if commands else ""


def _text(text: str) -> str:
    """A block where YAML shows the text as it is, else a quoted string."""
    lines = text.rstrip("\n").split("\n")
    is_plain = all(BLOCK_LINE.fullmatch(line) for line in lines)
    if is_plain and text.strip() and not text.startswith((" ", "\n", "\t")):
        return "|\n" + "\n".join(f"  {line}" if line else "" for line in lines)
    return _quoted(text)


def _quoted(text: str) -> str:
    """A JSON string, which is a YAML string once what YAML does not show is escaped."""
    shown = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    whole = json.dumps(shown, ensure_ascii=False)
    return NOT_SHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", whole)
