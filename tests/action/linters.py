"""Linters of other people's making, where they are installed: `scripts/peers.sh` does that."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.action.files import ROOT

PLACES = (ROOT / ".venv-peers" / "bin", Path(sys.executable).parent)


def find(name: str) -> str:
    """A linter's path; the test is skipped where it is not installed."""
    for place in (*map(str, PLACES), None):
        found = shutil.which(name, path=place)
        if found is not None:
            return found
    pytest.skip(f"{name} is not installed: sh scripts/peers.sh")


def lint(name: str, *words: str, paths: Sequence[Path]) -> tuple[int, str]:
    """A linter's exit code and what it says of files; its own network stays unused."""
    done = subprocess.run(
        [find(name), *words, *map(str, paths)], capture_output=True, text=True, check=False, timeout=100
    )
    return done.returncode, done.stdout + done.stderr


def workflow_problems(paths: Sequence[Path]) -> str:
    """What actionlint, zizmor and the schema of workflows find; empty: nothing."""
    calls = (
        ("actionlint", ()),
        ("zizmor", ("--offline", "--no-progress", "--quiet", "--min-severity", "medium")),
        ("check-jsonschema", ("--builtin-schema", "vendor.github-workflows")),
        ("check-jsonschema", ("--builtin-schema", "custom.github-workflows-require-timeout")),
    )
    said = [lint(name, *words, paths=paths) for name, words in calls]
    return "".join(text for code, text in said if code != 0)
