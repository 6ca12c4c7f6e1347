"""A benchmark suite of one small task: `answer.txt` must hold 42."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TASK = """\
id: {id}
prompt: Write the answer into answer.txt.
context_files: false
workspace: {{path: workspace, isolation: copy}}
hidden: [checks]
solution: solution
verify: [{{name: hidden checks, run: sh checks/run.sh}}]
tags: [easy]
"""
SUITE = "edition: '1'\ntasks: ['*/task.yaml']\n"
FILES: Mapping[str, str] = {
    "workspace/answer.txt": "?\n",
    "checks/run.sh": 'test "$(cat answer.txt)" = "$(cat checks/wanted)"\n',
    "checks/wanted": "42\n",
    "solution/answer.txt": "42\n",
    "alternatives/no-newline/answer.txt": "42",
    "mistakes/off-by-one/answer.txt": "41\n",
}


def make_task(directory: Path, files: Mapping[str, str] = FILES, task: str = TASK) -> Path:
    """A task's directory, its name the id."""
    put(directory, {"task.yaml": task.format(id=directory.name), **files})
    return directory


def make_suite(directory: Path, *ids: str, files: Mapping[str, str] = FILES) -> Path:
    """A suite's directory."""
    put(directory, {"suite.yaml": SUITE})
    for name in ids or ("answer",):
        make_task(directory / name, files)
    return directory


def put(directory: Path, files: Mapping[str, str]) -> None:
    """Write files."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
