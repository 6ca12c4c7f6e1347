"""A workspace over its life: made (or taken up again), compared, copied, removed.

One class for every isolation. What differs is how the agent's directory and the start come about: the
`prepare` function of `clone`, `copy` and `none`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, find_git
from pi_batch.protocols import Changes, CleanCopy
from pi_batch.workspaces.boundary import in_thread, workspace_errors
from pi_batch.workspaces.listing import IgnoreRules
from pi_batch.workspaces.removal import remove_trees
from pi_batch.workspaces.saved import Start, forget_start, load_start, save_start
from pi_batch.workspaces.shadow import Shadow, StoredTree
from pi_batch.workspaces.tracking import Tracking

_SHADOW = "shadow.git"
_TREE = "w"


class Request(Struct, frozen=True):
    """What a `prepare` function works from; all paths are absolute, and all but one real."""

    git: Git
    source: Path
    named: Path
    """The source as the user spelled it, over a link maybe."""
    state_dir: Path
    include_uncommitted: bool
    rules: IgnoreRules

    @property
    def shadow_dir(self) -> Path:
        """Where the shadow repository goes."""
        return self.state_dir / _SHADOW

    def tree_dir(self, name: str) -> Path:
        """Where the agent's directory goes: alone in its parent, so that no tool finds a config there."""
        return self.state_dir / _TREE / (name or "workspace")


class Prepared(Struct, frozen=True):
    """What a `prepare` function made."""

    path: Path
    base_commit: str | None
    start: Start | None
    """None when changes are not tracked."""
    warnings: tuple[str, ...] = ()
    stored: StoredTree | None = None
    """What the start's tree holds, as it was just written."""


Prepare = Callable[[Request], Awaitable[Prepared]]


class TrackedWorkspace:
    """A workspace whose start is kept in a private repository."""

    def __init__(
        self,
        isolation: str,
        prepare: Prepare,
        source: Path,
        state_dir: Path,
        *,
        include_uncommitted: bool,
        user_home: Path | None,
    ) -> None:
        self.isolation = isolation
        self.source = str(_without_dots(source))
        self.path = self.source
        self.base_commit: str | None = None
        self.start_commit: str | None = None
        self._prepare = prepare
        self._state_dir = state_dir
        self._include_uncommitted = include_uncommitted
        self._user_home = user_home
        self._is_open = False
        self._tracking: Tracking | None = None

    async def open(self) -> tuple[str, ...]:
        """Make it, or take up what an earlier process kept; return warnings.

        Raises: WorkspaceError, and then nothing was made.
        """
        with workspace_errors(self.source):
            request = self._request()
            start = load_start(request.state_dir, self.isolation, str(request.source))
            if start is not None:
                return self._take_up(request, start)
            try:
                prepared = await self._prepare(request)
                if prepared.start is not None:
                    save_start(request.state_dir, prepared.start)
            except BaseException:
                await self._remove()
                raise
        self.path = str(prepared.path)
        self.base_commit = prepared.base_commit
        self._follow(request, prepared.start, prepared.stored)
        return prepared.warnings

    async def changes(self, protect: Sequence[str]) -> Changes:
        """What differs now from the start. Raises: WorkspaceError."""
        self._need_open()
        if self._tracking is None:
            return Changes(b"", (), ())
        return await self._tracking.changes(protect)

    async def clean_copy(self, state: Literal["start", "patched"], protect: Sequence[str]) -> CleanCopy:
        """A fresh copy of the start, or of start plus the last `changes`. Raises: WorkspaceError."""
        self._need_open()
        if self._tracking is None:
            raise WorkspaceError(
                f"{self.source}: no clean copy, as its start was not recorded; use isolation: copy"
            )
        return await self._tracking.clean_copy(state, protect)

    async def start_file(self, path: str) -> bytes | None:
        """A file's content at the start, by path relative to the workspace; None when there was none."""
        self._need_open()
        return None if self._tracking is None else await self._tracking.start_file(path)

    async def apply(self, patch: bytes) -> None:
        """Change the files as a patch of `changes` says. Raises: WorkspaceError where it does not fit."""
        self._need_open()
        if self._tracking is None:
            raise WorkspaceError(f"{self.source}: its start was not recorded, so no patch fits")
        await self._tracking.apply(patch)

    async def close(self, *, keep: bool) -> None:
        """Remove what was made, unless it is to be kept for a resume. Raises: WorkspaceError."""
        self._is_open = False
        self._tracking = None
        if not keep:
            with workspace_errors(str(self._state_dir)):
                await self._remove()

    def _request(self) -> Request:
        source = Path(self.source)
        if not source.is_dir():
            raise WorkspaceError(
                f"{self.source}: {'is no directory' if source.exists() else 'does not exist'}"
            )
        return Request(
            git=Git(find_git()),
            source=source.resolve(),
            named=source,
            state_dir=self._state_dir.resolve(strict=True),
            include_uncommitted=self._include_uncommitted,
            rules=IgnoreRules(user_home=self._user_home),
        )

    def _take_up(self, request: Request, start: Start) -> tuple[str, ...]:
        if not (Path(start.root).is_dir() and request.shadow_dir.is_dir()):
            raise WorkspaceError(f"{start.root}: the kept workspace is gone; start a new run")
        self.path = start.path
        self.base_commit = start.base_commit
        self._follow(request, start, None)
        return ()

    def _follow(self, request: Request, start: Start | None, stored: StoredTree | None) -> None:
        self._is_open = True
        if start is None:
            return
        self.start_commit = start.commit
        excluded = tuple(item.encode("utf-8", "surrogateescape") for item in start.excluded)
        rules = IgnoreRules(excluded, request.rules.user_home)
        shadow = Shadow(request.git, request.shadow_dir, start.object_format)
        self._tracking = Tracking(shadow, request.state_dir, start, rules, stored)

    def _need_open(self) -> None:
        if not self._is_open:
            raise WorkspaceError(f"{self.source}: the workspace is not open")

    async def _remove(self) -> None:
        directory = self._state_dir
        if not directory.is_dir():
            return
        forget_start(directory)
        made = [directory / _TREE, directory / _SHADOW, *directory.glob("copy-*")]
        await in_thread(lambda _: remove_trees(made))


def _without_dots(path: Path) -> Path:
    """An absolute path as it was spelled, but for `.` and `..`; the real one where those follow a link."""
    plain = Path(os.path.normpath(path.absolute()))
    return plain if plain.resolve() == path.resolve() else path.resolve()
