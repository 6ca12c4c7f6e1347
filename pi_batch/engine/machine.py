"""What outside the workspace decides how a check runs, as it is now: for noticing that it changed.

Without a sandbox the agent can write where its user can: a `pytest` in a directory of PATH that comes
first, a start-up file of Python in the home directory, a pytest.ini above the clean copy. This finds the
usual places; the rest is said in SECURITY.md.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pi_batch.invocations import invocations

Machine = Mapping[str, str]
"""What it is, as a person would name it -> its state; what is not there has no entry."""

HASHED_MAX_BYTES = 1024 * 1024
PROGRAMS = ("pytest", "python", "python3", "bash", "sh", "env", "make", "node", "npm", "go", "cargo")
ABOVE = (
    *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"),
    *("go.work", ".cargo/config", ".cargo/config.toml"),
)
"""Files that runners look for in every directory above the one they start in."""
IN_HOME = (
    ".local/lib/python3*/site-packages/sitecustomize.py",
    ".local/lib/python3*/site-packages/usercustomize.py",
    ".local/lib/python3*/site-packages/*.pth",
    ".config/go/env",
)
BESIDE_PYTHON = ("lib/python3*/site-packages/*customize.py", "lib/python3*/dist-packages/*customize.py")
_EDITABLE = re.compile(r"import (__editable___\w+); \1\.install\(\)")


def look(env: Mapping[str, str], commands: Iterable[str], directories: Iterable[str]) -> Machine:
    """The programs of checks on PATH, start-up files, and configuration above some directories."""
    named = (call.words[0] for command in commands for call in invocations(command))
    programs = dict.fromkeys((*PROGRAMS, *(name for name in named if "/" not in name)))
    state = {f"`{name}` on PATH": found for name in programs if (found := _program(name, env))}
    state |= {str(path): digest for path in _startup_files(env) if (digest := _digest(path))}
    for path in _above(directories):
        if digest := _digest(path):
            state[str(path)] = digest
    return state


def differences(before: Machine, after: Machine) -> tuple[str, ...]:
    """One phrase for everything that is not as it was."""
    found = []
    for what in sorted(before.keys() | after.keys()):
        if before.get(what) == after.get(what):
            continue
        how = "was changed" if what in before and what in after else "is new" if what in after else "is gone"
        where = f" ({after[what].rpartition(' ')[0]})" if what.endswith("on PATH") and what in after else ""
        found.append(f"{what}{where} {how} since the start")
    return tuple(found)


def carried_over(start: Machine, before: Machine, after: Machine) -> Machine:
    """The start's state with what changed between two looks, for changes that are our own."""
    own = {what for what in before.keys() | after.keys() if before.get(what) != after.get(what)}
    kept = {what: state for what, state in start.items() if what not in own}
    return kept | {what: after[what] for what in own if what in after}


def _program(name: str, env: Mapping[str, str]) -> str:
    """Where PATH leads for a name, and to what content."""
    for directory in env.get("PATH", "").split(os.pathsep):
        path = Path(directory, name)
        if path.is_absolute() and path.is_file() and os.access(path, os.X_OK):
            return f"{path} {_digest(path)}"
    return ""


def _startup_files(env: Mapping[str, str]) -> Iterator[Path]:
    home = Path(env.get("HOME", ""))
    if home.is_absolute():
        for pattern in IN_HOME:
            yield from sorted(home.glob(pattern))
    pythons = (_program(name, env).rpartition(" ")[0] for name in ("python", "python3"))
    roots = {root for python in pythons if python for root in _roots(Path(python))}
    for root in sorted(roots):
        for pattern in BESIDE_PYTHON:
            yield from sorted(root.glob(pattern))


def _roots(python: Path) -> tuple[Path, Path]:
    """Where an interpreter's libraries may be: beside it as named, and beside what it really is."""
    return python.parent.parent, python.resolve().parent.parent


def _above(directories: Iterable[str]) -> Iterator[Path]:
    parents = dict.fromkeys(parent for directory in directories for parent in Path(directory).parents)
    for parent in parents:
        yield from (parent / name for name in ABOVE)


def _digest(path: Path) -> str:
    """What tells a file's content from another; empty when it is not there or says nothing."""
    try:
        state = path.stat()
        if state.st_size > HASHED_MAX_BYTES:
            return f"{state.st_size}-{state.st_mtime_ns}"
        content = path.read_bytes()
    except OSError:
        return ""
    if path.suffix == ".pth":
        content = _code_lines(content)
        if not content:
            return ""
    return hashlib.sha256(content).hexdigest()


def _code_lines(pth: bytes) -> bytes:
    """What a .pth file executes; mere paths, and what editable installs write, are no tampering."""
    lines = (line.strip() for line in pth.decode("utf-8", "replace").split("\n"))
    code = [
        line for line in lines if line.startswith(("import ", "import\t")) and not _EDITABLE.fullmatch(line)
    ]
    return "\n".join(code).encode("utf-8", "replace")
