"""What of a person's repository may not be changed from inside: their git would run it, outside.

Source: gitrepository-layout(5), githooks(5), git-config(1).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

_RUN = ("hooks", "config", "config.worktree", "info/attributes", "commondir", "objects/info/alternates")
"""Hooks, settings that name programs, and files that say where more of these are."""
_MAX_MODULES = 200
_TRIES, _PAUSE_S = 20, 0.005
_HERE, _HERE_AND_HOOKS = ".\n", ".\n\n"
"""The same to git; the second says that the directory of hooks was made as well."""


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


class HeldPlaces:
    """What is not there and must not be made from inside, made to hold its place while a sandbox is up.

    An empty directory of hooks, and a `commondir` that leads to where it is: neither changes anything. Of
    several sandboxes the last one removes them, by a lock on the git directory that ends with its process;
    what a killed process left is known by its content, and removed by the next one that holds the place.
    """

    def __init__(self) -> None:
        self._locks: dict[str, int] = {}
        """Git directory -> its descriptor, which holds a shared lock."""

    def hold(self, git_dir: str) -> None:
        """Make what is missing; a directory that cannot be changed is left as it is."""
        if git_dir in self._locks:
            return
        with contextlib.suppress(OSError):
            lock = self._locks[git_dir] = os.open(git_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            _share(lock)
            hooks, common = Path(git_dir, "hooks"), Path(git_dir, "commondir")
            has_hooks = hooks.exists()
            hooks.mkdir(exist_ok=True)
            if not common.exists():
                common.write_text(_HERE if has_hooks else _HERE_AND_HOOKS, encoding="ascii")

    def give_back(self) -> None:
        """Remove what was made, unless others hold it, too, or it is not as it was made."""
        for git_dir, lock in self._locks.items():
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove_places(git_dir)
            os.close(lock)
        self._locks.clear()


def _share(lock: int) -> None:
    """A shared lock, where it is to be had soon: a task of ours could hold another one for ever."""
    for _ in range(_TRIES):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return
        time.sleep(_PAUSE_S)


def _remove_places(git_dir: str) -> None:
    """Raises: OSError."""
    common = Path(git_dir, "commondir")
    content = common.read_text(encoding="ascii", errors="replace")
    if content in (_HERE, _HERE_AND_HOOKS):
        common.unlink()
    if content == _HERE_AND_HOOKS:
        Path(git_dir, "hooks").rmdir()


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
