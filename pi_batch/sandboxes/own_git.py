"""What of a person's repository may not be changed from inside: their git would run it, outside.

Source: gitrepository-layout(5), githooks(5), git-config(1).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_RUN = ("hooks", "config", "config.worktree", "info/attributes", "commondir", "objects/info/alternates")
"""Hooks, settings that name programs, and files that say where more of these are."""
_MAX_MODULES = 200
_HERE = ".\n"


def top_of(root: str, home: str) -> str | None:
    """The work tree around a directory, with all that git compares; None where there is none, or a home."""
    for directory in (Path(root), *Path(root).parents):
        if (directory / ".git").exists():
            is_home = bool(home) and Path(home).is_relative_to(directory)
            return None if str(directory) == root or is_home else str(directory)
    return None


def repositories(root: str) -> tuple[str, ...]:
    """The git directories of the work tree around a directory: its own, and the one it is linked to."""
    for directory in (Path(root), *Path(root).parents):
        dot_git = directory / ".git"
        if dot_git.is_dir():
            return (os.path.realpath(dot_git),)
        if dot_git.is_file():
            return tuple(dict.fromkeys(_linked(dot_git)))
    return ()


def hold_places(git_dir: str) -> tuple[str, ...]:
    """Make what is not there and must not be made from inside; the paths, for `give_back`.

    An empty directory of hooks, and a `commondir` that leads to where it is: neither changes anything.
    """
    made = []
    hooks, common = Path(git_dir, "hooks"), Path(git_dir, "commondir")
    with contextlib.suppress(OSError):
        if not hooks.exists():
            hooks.mkdir()
            made.append(str(hooks))
        if not common.exists():
            common.write_text(_HERE, encoding="ascii")
            made.append(str(common))
    return tuple(made)


def give_back(paths: Iterable[str]) -> None:
    """Remove what `hold_places` made, as long as it is as it was made."""
    for path in map(Path, paths):
        with contextlib.suppress(OSError):
            if path.is_dir():
                path.rmdir()
            elif path.read_text(encoding="ascii", errors="replace") == _HERE:
                path.unlink()


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
