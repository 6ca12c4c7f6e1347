"""Where the agent works, and copies that it never saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from pi_batch.results import ChangedFile


class Changes(Struct, frozen=True):
    """The difference from the start."""

    patch: bytes
    """`git apply --binary` on the start commit gives the workspace's state."""
    files: tuple[ChangedFile, ...]
    protected_touched: tuple[str, ...]
    """Changed paths that match the protect globs; the clean copy has them as at the start."""
    warnings: tuple[str, ...] = ()
    """What is not in the patch and why, one line each."""


class CleanCopy(Protocol):
    """A directory made of start plus patch, protected paths from the start."""

    path: str
    """The directory that corresponds to the workspace's path."""

    async def close(self) -> None:
        """Remove it."""
        ...


class Workspace(Protocol):
    """Where the agent works, how it differs from the start, and copies that the agent never saw."""

    isolation: str
    source: str
    """The user's directory."""
    path: str
    """The agent's directory; real and absolute once open."""
    base_commit: str | None
    """HEAD of the user's checkout; None without one."""
    start_commit: str | None
    """The synthetic commit of the snapshot; None when changes are not tracked."""

    async def open(self) -> tuple[str, ...]:
        """Make it; return warnings. Raises: WorkspaceError, and then nothing was made."""
        ...

    async def changes(self, protect: Sequence[str]) -> Changes:
        """What differs now from the start. Raises: WorkspaceError."""
        ...

    async def clean_copy(self, state: Literal["start", "patched"], protect: Sequence[str]) -> CleanCopy:
        """A fresh copy of the start, or of start plus what `changes` gave last. Raises: WorkspaceError."""
        ...

    async def start_file(self, path: str) -> bytes | None:
        """A file's content at the start, by path relative to `path`; None when it was not there."""
        ...

    async def apply(self, patch: bytes) -> None:
        """Change the files as a patch of `changes` says. Raises: WorkspaceError where it does not fit."""
        ...

    async def close(self, *, keep: bool) -> None:
        """Remove what was made, unless it is to be kept for a resume."""
        ...
