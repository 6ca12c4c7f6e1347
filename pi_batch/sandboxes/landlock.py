"""Landlock and a system-call filter: walls for where namespaces are forbidden, with no program but Python.

What it cannot do is said in `layers`: /tmp is closed, not private; the process table is seen, though no
process outside can be signalled or looked into; without network, not even loopback can be connected to.

Source: landlock(7); Linux's Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pi_batch.errors import SandboxError
from pi_batch.kernel import landlock as kernel
from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes import own_git, visible
from pi_batch.sandboxes.calls import GRACE_S
from pi_batch.sandboxes.enclosed import PLAIN_VARIABLES, Enclosed
from pi_batch.sandboxes.filters import bare_filter
from pi_batch.sandboxes.limits import Limits
from pi_batch.sandboxes.line import Line

MIN_ABI = 4
"""The first that closes TCP. Source: landlock.rst, Linux 6.7."""
SCOPED_ABI = 6
"""The first that keeps signals and abstract sockets in."""

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 -- named, not used


class Landlock:
    """The walls of one sandbox."""

    name = "landlock"
    python = sys.executable
    door: str | None = None
    is_remote = False
    variables: Mapping[str, str] = PLAIN_VARIABLES

    def __init__(self, place: SandboxPlace, search_path: str, home: str) -> None:
        self.place = place
        self._search_path = search_path
        self._home = os.path.realpath(home) if home else ""
        abi = kernel.abi()
        network = "the machine's network" if place.network is True else "no TCP, no UDP, not even loopback"
        scope = "no signals to others" if abi >= SCOPED_ABI else "signals to others not stopped"
        self.layers: tuple[str, ...] = (
            f"its own files (Landlock {abi})",
            network,
            scope,
            "no privileges",
            "filtered system calls",
            *(("git's hooks and settings not protected",) if place.is_users_own else ()),
        )

    def command(self, porter: Sequence[str]) -> tuple[Sequence[str], Sequence[int]]:
        """The porter itself: it locks itself in. Raises: SandboxError where the kernel has too little."""
        abi = kernel.abi()
        if abi < MIN_ABI:
            has = f"the kernel's Landlock is version {abi}" if abi else "the kernel has no Landlock"
            raise SandboxError(f"landlock: {has}, need {MIN_ABI}")
        if isinstance(self.place.network, tuple):
            raise SandboxError(
                "landlock: cannot keep to a list of hosts: set permissions.network to true or false"
            )
        return porter, ()

    async def lock(self, line: Line) -> None:
        """Close the walls. Raises: OSError, SandboxError."""
        has_network = self.place.network is True
        ruleset = kernel.make_ruleset(
            read=self._readable(), write=self._writable(), blocks_tcp=not has_network, is_scoped=True
        )
        try:
            await line.ask("lock", bare_filter(has_network=has_network), files=(ruleset,))
        finally:
            os.close(ruleset)

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """The same with a home of its own, and tool chains told where they are."""
        changed = dict(env)
        if os.geteuid() == 0:
            changed.setdefault("TAR_OPTIONS", "--no-same-owner")
        if not self._home or os.path.realpath(env.get("HOME", "")) != self._home:
            return changed
        changed["HOME"] = self._private_home()
        for name, variable in visible.HOME_VARIABLES.items():
            if Path(self._home, name).is_dir():
                changed.setdefault(variable, f"{self._home}/{name}")
        return changed

    def close(self) -> None:
        """Nothing is held."""

    def force(self) -> None:
        """Nothing is left: it was this process's own child."""

    def _private_home(self) -> str:
        path = Path(self.place.scratch, ".home")
        path.mkdir(exist_ok=True, mode=0o700)
        return str(path)

    def _readable(self) -> Iterator[str]:
        private = {path for path, _ in visible.private_in_etc()} if os.geteuid() == 0 else set()
        for path in visible.system_directories():
            yield from _without(path, private)
        yield "/proc"
        for path in visible.tool_chains(self._search_path, self._home):
            yield from _without(path, set(self.place.hidden))
        yield from self.place.readable
        top = own_git.top_of(self.place.root, self._home) if self.place.is_users_own else None
        if top is not None:
            yield top
        resolver = os.path.realpath("/etc/resolv.conf")
        if self.place.network is True and Path(resolver).is_file():
            yield resolver

    def _writable(self) -> Iterator[str]:
        yield from (self.place.root, self.place.scratch)
        yield from (f"/dev/{name}" for name in _DEVICES if Path("/dev", name).exists())
        if not any(Path(_SHARED_MEMORY).glob("*")):  # else others have something there
            yield _SHARED_MEMORY


def _without(path: str, private: set[str]) -> Iterator[str]:
    """A directory, or what is in it where something below must stay closed: rules cannot take away.

    A rule holds for what a link leads to, so links are taken for that.
    """
    if path in private:
        return
    if not any(visible.is_within(each, path) for each in private):
        yield path
        return
    for entry in sorted(os.listdir(path)):  # noqa: PTH208
        below = os.path.realpath(f"{path}/{entry}")
        if Path(below).exists() and not visible.is_within(path, below):
            yield from _without(below, private)


def landlock(
    place: SandboxPlace | None = None,
    limits: Limits | None = None,
    *,
    search_path: str = os.defpath,
    home: str = "",
    grace_s: float = GRACE_S,
) -> Enclosed:
    """A sandbox of Landlock and seccomp alone."""
    place = place or SandboxPlace("/var/empty", "/var/empty")
    return Enclosed(
        Landlock(place, search_path, home),
        limits or Limits(),
        grace_s=grace_s,
    )
