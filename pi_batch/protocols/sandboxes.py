"""Where commands run and files are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

FileKind = Literal["file", "directory", "link", "other"]


class Completed(Struct, frozen=True):
    """How a command in a sandbox ended."""

    exit_code: int | None
    """None when a signal or the time limit ended it."""
    signal: int | None
    timed_out: bool
    duration_s: float


class FileStat(Struct, frozen=True):
    """What a path is, links followed."""

    kind: FileKind
    size_bytes: int
    mode: int
    """Permission bits."""
    mtime_ns: int


class DirEntry(Struct, frozen=True):
    """One name in a directory; links not followed."""

    name: str
    kind: FileKind
    link_target: str | None = None


class SandboxPlace(Struct, frozen=True):
    """What a sandbox is made around; all paths are absolute and real, and exist."""

    root: str
    """May be changed, with all below it: the workspace's repository, a clean copy."""
    scratch: str
    """A private directory, changeable too; what the sandbox shows as home and /tmp is kept in it."""
    readable: tuple[str, ...] = ()
    """May be read besides what every program needs."""
    hidden: tuple[str, ...] = ()
    """Must not be seen though it may lie in what is shown: the run directory."""
    network: bool | tuple[str, ...] = False
    """No network, all of it, or these hosts alone."""
    is_users_own: bool = False
    """True when `root` is a directory that people use: what their git would run from it cannot be changed."""


SandboxUse = Literal["commands", "setup"]
"""What a sandbox is for: setup may have the network where nothing else has."""


class Sandbox(Protocol):
    """Where a task's commands run and its files are; lives as long as its task.

    Paths are absolute. Background processes survive between calls and die in `close`. Output of a
    process that outlives its call keeps being drained, so that it neither blocks nor dies of it.
    """

    name: str
    layers: tuple[str, ...]
    """What isolates, strongest first; empty when nothing does."""
    python: str
    """What runs programs of ours inside."""

    async def start(self) -> None:
        """Bring it up. Raises: SandboxError."""
        ...

    async def close(self) -> None:
        """End every process that a call left, also those that left their session."""
        ...

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Completed:
        """Run a command: own session, stdin at end of file, stdout and stderr in one stream.

        Returns when the command itself has exited, never waiting for end of file. At the time limit,
        or when cancelled: TERM, a short grace, KILL, to everything the call started. `on_output` is never
        called after it returned; what it raises ends the call and is raised.

        Raises: SandboxError when it is not open. OSError when the command cannot be started; `filename`
        names the program, or `cwd`, that is not there.
        """
        ...

    async def resolve(self, path: str) -> str:
        """The real path: the deepest existing ancestor resolved, the rest appended."""
        ...

    async def stat(self, path: str) -> FileStat | None:
        """What is there; None when nothing is (a dangling link included)."""
        ...

    async def read(self, path: str, *, offset: int = 0, limit_bytes: int | None = None) -> bytes:
        """Bytes of a regular file. Raises: OSError."""
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Replace the content in place of the real file, keeping mode and hard links; makes parents.

        Written whole or not at all as far as the file's links allow. Raises: OSError.
        """
        ...

    async def list(self, path: str) -> list[DirEntry]:
        """A directory's entries by name. Raises: OSError."""
        ...
