"""Spec files in a temporary directory, loaded as the command line would."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.errors import SpecError
from pi_batch.load.options import PlanOptions
from pi_batch.load.plan import load_plan
from pi_batch.spec import Plan, PlannedTask

MODEL = "fake/model"


def write(directory: Path, files: Mapping[str, str | bytes]) -> None:
    """Put files into a directory, texts dedented."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else dedent(content).lstrip("\n").encode())


def options(directory: Path, **given: Any) -> PlanOptions:
    """Options with a model and no built-in specs, unless given otherwise."""
    usual = PlanOptions(cwd=directory, models=(MODEL,), builtin_dir=directory / "no-builtins")
    return replace(usual, **given)


def plan(directory: Path, text: str | bytes | Mapping[str, str | bytes], *specs: str, **given: Any) -> Plan:
    """The plan of a spec `a.yaml`, or of several files: all of them or those named."""
    files = text if isinstance(text, Mapping) else {"a.yaml": text}
    write(directory, files)
    return load_plan(specs or tuple(files), options(directory, **given))


def task(directory: Path, text: str | Mapping[str, str | bytes], *specs: str, **given: Any) -> PlannedTask:
    """The one task of a plan."""
    made = plan(directory, text, *specs, **given)
    assert len(made.tasks) == 1
    return made.tasks[0]


def problems(
    directory: Path, text: str | bytes | Mapping[str, str | bytes], *specs: str, **given: Any
) -> list[str]:
    """Every problem's line, as printed."""
    with pytest.raises(SpecError) as caught:
        plan(directory, text, *specs, **given)
    lines = str(caught.value).split("\n")
    assert lines == [str(problem) for problem in caught.value.problems]
    return lines


def problem(directory: Path, text: str | bytes | Mapping[str, str | bytes], *specs: str, **given: Any) -> str:
    """The line of the only problem."""
    lines = problems(directory, text, *specs, **given)
    assert len(lines) == 1, lines
    return lines[0]
