"""What of a person's repository may not be changed from inside: their git would run it, outside.

Source: gitrepository-layout(5), githooks(5), git-config(1).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_RUN = ("hooks", "config", "config.worktree", "info/attributes", "commondir", "objects/info/alternates")
"""Hooks, settings that name programs, and files that say where more of these are."""
_MAX_MODULES = 200


def repositories(root: str) -> tuple[str, ...]:
    """The git directories of the work tree around a directory: its own, and the one it is linked to."""
    for directory in (Path(root), *Path(root).parents):
        dot_git = directory / ".git"
        if dot_git.is_dir():
            return (os.path.realpath(dot_git),)
        if dot_git.is_file():
            return tuple(dict.fromkeys(_linked(dot_git)))
    return ()


def _linked(dot_git: Path) -> Iterator[str]:
    """What a `.git` file names. A file that names nothing gives nothing."""
    try:
        named = dot_git.read_text(encoding="utf-8", errors="surrogateescape").removeprefix("gitdir:").strip()
        git_dir = Path(os.path.realpath(dot_git.parent / named))
        common = (git_dir / "commondir").read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return
    if git_dir.is_dir():
        yield os.path.realpath(git_dir / common)
        yield str(git_dir)


def protected(git_dir: str) -> tuple[str, ...]:
    """Paths in a git directory that must stay as they are, or absent; submodules' too."""
    directories = [git_dir]
    modules = Path(git_dir, "modules")
    if modules.is_dir():
        heads = (head for _, head in zip(range(_MAX_MODULES), modules.rglob("HEAD"), strict=False))
        directories += [str(head.parent) for head in heads if (head.parent / "objects").is_dir()]
    return tuple(f"{directory}/{name}" for directory in directories for name in _RUN)
