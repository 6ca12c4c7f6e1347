"""The action's files, and its programs as modules."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "github-action"
ACTIONS = (ACTION / "action.yml", ACTION / "apply" / "action.yml")
WORKFLOWS = tuple(sorted((ACTION / "examples").glob("*.yml")))


@cache
def read(path: Path) -> Any:
    """A YAML file, parsed."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@cache
def program(name: str) -> ModuleType:
    """A program of the action as a module."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, ACTION / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def steps(content: Any) -> list[dict[str, Any]]:
    """Every step of an action or a workflow."""
    if "runs" in content:
        return list(content["runs"]["steps"])
    return [step for job in content["jobs"].values() for step in job["steps"]]
