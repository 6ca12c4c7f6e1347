"""Whether a task is to run now: `only_if` and what earlier nights came to, asked before anything is made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place, find_git
from pi_batch.nights import Tried, left_alone, task_sha256, too_early
from pi_batch.permissions import gitignore_regex
from pi_batch.protocols import Clock
from pi_batch.results import Skip
from pi_batch.spec import OnlyIf, PlannedTask
from pi_batch.times import iso_utc
from pi_batch.wiring.memory import MemoryFile
from pi_batch.wiring.repositories import Repositories
from pi_batch.wording import listed
from pi_batch.workspaces.checkout import find_top
from pi_batch.workspaces.layout import repository_of

HEAD = "HEAD"


class Base(Struct, frozen=True):
    """Where a task would begin."""

    git: Git
    place: Place
    commit: str
    prefix: str
    """Of the workspace in the repository: empty, or with a slash at its end."""


class Gate(Struct, frozen=True):
    """What decides for one run."""

    repositories: Repositories
    memory: MemoryFile | None
    clock: Clock
    search_path: str | None
    """A PATH to find git on."""
    tries_again: bool = False
    """As though nothing were remembered."""

    async def skip(self, task: PlannedTask) -> Skip | None:
        """Why a task is not to run; None: it is. Raises: WorkspaceError."""
        condition = task.spec.only_if
        tried = None if self.memory is None or self.tries_again else self.memory.of(task)
        if condition is not None and condition.days is not None:
            reason = too_early(tried, condition.days, iso_utc(self.clock.time()))
            if reason is not None:
                return Skip("only_if", reason)
        looks = condition is not None and bool(condition.changed)
        if not looks and tried is None:
            return None
        base = await self._base(task)
        if base is None:
            return None
        if condition is not None and looks:
            reason = await self._unchanged(task, condition, base, tried)
            if reason is not None:
                return Skip("only_if", reason)
        reason = left_alone(tried, task_sha256(task), base.commit)
        return Skip("left_alone", reason) if reason is not None else None

    async def _base(self, task: PlannedTask) -> Base | None:
        """The commit of the task's repository; None where it works in none."""
        spec = task.spec.workspace
        if spec.repo is not None:
            mirror, at = await self.repositories.fetched(spec)
            prefix = "" if spec.path == "." else f"{os.path.normpath(spec.path)}/"
            return Base(mirror.git, mirror.place, at.commit, prefix)
        source = Path(os.path.realpath(Path(task.spec_dir) / spec.path))
        try:
            top = find_top(source)
        except WorkspaceError:
            top = None
        if top is None:
            return None
        git, place = Git(find_git(self.search_path)), Place(repository_of(top), top)
        commit = await _resolve(git, place, HEAD)
        below = source.relative_to(top).as_posix()
        return None if commit is None else Base(git, place, commit, "" if below == "." else f"{below}/")

    async def _unchanged(
        self, task: PlannedTask, condition: OnlyIf, base: Base, tried: Tried | None
    ) -> str | None:
        """Why `only_if.changed` says no; None: something changed, or nobody knows."""
        since = await self._since(task, condition, base, tried)
        if since is None:
            return None
        known = await _resolve(base.git, base.place, since)
        if known is None:  # rewritten, and gone from the repository
            return None
        paths = await _changed(base, known)
        if any(_matches(path, condition.changed) for path in paths):
            return None
        what = condition.since or "the last time"
        return f"only_if: nothing in {listed(condition.changed, limit=3)} changed since {what} ({known[:12]})"

    async def _since(
        self, task: PlannedTask, condition: OnlyIf, base: Base, tried: Tried | None
    ) -> str | None:
        """What to compare with; None without anything. Raises: WorkspaceError for a ref that is not there."""
        if condition.since is None:
            return tried.done_base or None if tried is not None else None
        spec = task.spec.workspace
        if spec.repo is not None:
            mirror, _ = await self.repositories.fetched(spec)
            return (await mirror.position(condition.since)).commit
        if await _resolve(base.git, base.place, condition.since) is None:
            raise WorkspaceError(f"only_if.since: {condition.since!r} names no commit of the repository")
        return condition.since


async def _resolve(git: Git, place: Place, revision: str) -> str | None:
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    output = await git.run(place, *words, accepted=(0, 1, 128))
    return output.stdout.decode("ascii", "replace").strip() or None


async def _changed(base: Base, since: str) -> tuple[str, ...]:
    """Paths below the workspace that differ between two commits, relative to it."""
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", since, base.commit)
    output = await base.git.run(Place(base.place.git_dir), *words)
    paths = (os.fsdecode(path) for path in output.stdout.split(b"\0") if path)
    return tuple(path.removeprefix(base.prefix) for path in paths if path.startswith(base.prefix))


def _matches(path: str, globs: Sequence[str]) -> bool:
    """As .gitignore reads a list of globs: the last that matches decides."""
    is_matched = False
    for glob in globs:
        regex, is_included = gitignore_regex(glob)
        if regex is not None and regex.search(path):
            is_matched = is_included
    return is_matched
