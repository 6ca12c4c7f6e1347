"""Built-in specs as tests use them: planned for a directory, their commands run there, the real program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pi_batch.load.options import PlanOptions
from pi_batch.load.plan import load_plan
from pi_batch.load.specs import builtin_directory, builtin_names
from pi_batch.spec import TaskSpec

ROOT = Path(__file__).parents[1]
NAMES = builtin_names(builtin_directory())
OUTSIDE = ("PI_BATCH_", "PYTHON", "GIT_", "PYTEST_", "XDG_")
"""Beginnings of variables that would make a test depend on who runs it."""


def builtin(name: str, directory: Path, **inputs: str) -> TaskSpec:
    """A built-in spec with its templates rendered, as a run in the directory would have it."""
    options = PlanOptions(cwd=directory, models=("fake/model",), inputs=inputs)
    (task,) = load_plan((name,), options).tasks
    return task.spec


def environment(scratch: Path) -> dict[str, str]:
    """A child's environment: this Python first, a home and a temporary directory of its own."""
    home, temporary = scratch / "home", scratch / "temporary files"
    for directory in (home, temporary):
        directory.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OUTSIDE)}
    path = f"{Path(sys.executable).parent}:{kept['PATH']}"
    return {**kept, "PATH": path, "HOME": str(home), "TMPDIR": str(temporary)}


def run(*argv: str | Path, cwd: Path, scratch: Path) -> subprocess.CompletedProcess[str]:
    """A program to its end, within a minute."""
    return subprocess.run(
        [str(word) for word in argv],
        cwd=cwd,
        env=environment(scratch),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def pi_batch(*words: str | Path, cwd: Path, scratch: Path) -> subprocess.CompletedProcess[str]:
    """The real command."""
    return run(sys.executable, "-m", "pi_batch", *words, cwd=cwd, scratch=scratch)


def shell(command: str, cwd: Path, scratch: Path) -> subprocess.CompletedProcess[str]:
    """A command in the way that checks and setup are run."""
    return run("bash", "-e", "-o", "pipefail", "-c", command, cwd=cwd, scratch=scratch)


def put(directory: Path, files: Mapping[str, str]) -> None:
    """Write files."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def git(directory: Path, *words: str) -> str:
    """Run git there as somebody without any configuration."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgSign=false")
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    ran = subprocess.run(
        ["git", *who, *words], cwd=directory, env=environ, capture_output=True, encoding="utf-8", check=True
    )
    return ran.stdout


def repository(directory: Path, files: Mapping[str, str]) -> Path:
    """A git repository with one commit on main."""
    directory.mkdir(parents=True, exist_ok=True)
    put(directory, files)
    git(directory, "init", "-q", "-b", "main")
    commit(directory, "base")
    return directory


def commit(directory: Path, message: str) -> None:
    """Commit everything."""
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "--allow-empty", "-m", message)
