"""Control groups of our own, where this process may make some: limits over all processes of a task together.

Version 2 where it is delegated (a user's systemd session, root), version 1 where root has it mounted.

Source: cgroups(7); Linux's Documentation/admin-guide/cgroup-v2.rst, "Delegation".
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FILES = {
    (2, "memory"): "memory.max",
    (1, "memory"): "memory.limit_in_bytes",
    (2, "pids"): "pids.max",
    (1, "pids"): "pids.max",
}
CONTROLLERS = ("memory", "pids")
_NUMBERS = itertools.count(1)
_REMOVE_TRIES = 50
SWEPT_AFTER_S = 60.0
"""A group without processes may be about to be entered, by a process of another container."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A directory in which groups can be made that have these controllers."""

    directory: Path
    version: int
    controllers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cgroup:
    """A group that was made: one directory in each hierarchy."""

    directories: tuple[Path, ...]
    controllers: tuple[str, ...]

    @property
    def entrances(self) -> tuple[str, ...]:
        """Files to which a process writes its pid to be in the group, with all that it starts."""
        return tuple(str(directory / "cgroup.procs") for directory in self.directories)

    def remove(self) -> None:
        """Remove the group; its processes have ended, or are about to."""
        for directory in self.directories:
            for _ in range(_REMOVE_TRIES):
                try:
                    directory.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.002)
                else:
                    break


def make(limits: dict[str, int]) -> Cgroup | None:
    """A group with these limits by controller, as far as it can be had; None where nothing can."""
    name = f"pi-batch-{os.getpid()}-{next(_NUMBERS)}"
    made: list[Path] = []
    kept: list[str] = []
    for hierarchy in hierarchies():
        wanted = {what: limits[what] for what in hierarchy.controllers if what in limits}
        if not wanted:
            continue
        directory = hierarchy.directory / name
        try:
            directory.mkdir()
            made.append(directory)
            for what, most in wanted.items():
                (directory / _FILES[hierarchy.version, what]).write_text(f"{most}\n", encoding="ascii")
        except OSError:
            with contextlib.suppress(OSError, ValueError):
                directory.rmdir()
                made.remove(directory)
        else:
            kept += wanted
    return Cgroup(tuple(made), tuple(kept)) if made else None


def sweep(directory: Path) -> None:
    """Remove the groups of processes that were killed before they could: empty ones, not just made."""
    for group in directory.glob("pi-batch-[0-9]*"):
        pid = group.name.split("-")[2]
        with contextlib.suppress(OSError):
            is_old = time.time() - group.stat().st_mtime > SWEPT_AFTER_S
            if pid.isdigit() and is_old and not Path("/proc", pid).exists():
                group.rmdir()


@functools.cache
def hierarchies() -> tuple[Hierarchy, ...]:
    """Where groups can be made and entered, tried once: the first directory for each controller."""
    found: list[Hierarchy] = []
    left = set(CONTROLLERS)
    for candidate in _candidates():
        controllers = tuple(what for what in candidate.controllers if what in left)
        if controllers and _can_be_entered(candidate.directory):
            found.append(Hierarchy(candidate.directory, candidate.version, controllers))
            sweep(candidate.directory)
            left -= set(controllers)
    return tuple(found)


def _candidates() -> Iterator[Hierarchy]:
    """This process's own groups and those above them, in every hierarchy that is mounted."""
    try:
        memberships = Path("/proc/self/cgroup").read_text(encoding="utf-8").split("\n")
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        return
    for line in filter(None, memberships):
        _, names, path = line.split(":", 2)
        version = 1 if names else 2
        mount = _mount_of(names.split(",") if names else [], mounts)
        if mount is None:
            continue
        top, own = mount, mount / path.lstrip("/")
        for directory in (own, *own.parents):
            if not directory.is_relative_to(top):
                break
            if directory.is_dir() and os.access(directory, os.W_OK):
                yield Hierarchy(directory, version, tuple(_controllers(directory, names, version)))


def _mount_of(controllers: list[str], mounts: list[str]) -> Path | None:
    """Where the hierarchy of these controllers is mounted; without any, version 2's."""
    for line in mounts:
        before, _, after = line.partition(" - ")
        kind, _, rest = after.partition(" ")
        options = rest.rpartition(" ")[2].split(",")
        if kind == "cgroup2" if not controllers else kind == "cgroup" and controllers[0] in options:
            return Path(before.split(" ")[4])
    return None


def _controllers(directory: Path, names: str, version: int) -> Iterator[str]:
    """What groups made in a directory can limit."""
    if version == 1:
        enabled = names.split(",")
    else:
        try:
            enabled = (directory / "cgroup.subtree_control").read_text(encoding="ascii").split()
        except OSError:
            return
    yield from (what for what in CONTROLLERS if what in enabled)


def _can_be_entered(directory: Path) -> bool:
    """True when a group can be made there and a process can move into it."""
    group = directory / f"pi-batch-{os.getpid()}-probe"
    try:
        group.mkdir()
    except OSError:
        return False
    try:
        enter = 'echo $$ > "$1/cgroup.procs"'
        done = subprocess.run(["/bin/sh", "-c", enter, "sh", str(group)], capture_output=True, check=False)
        return done.returncode == 0
    finally:
        Cgroup((group,), ()).remove()
