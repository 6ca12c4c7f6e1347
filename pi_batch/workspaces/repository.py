"""workspace.repo: the agent works in a clone of another repository, at a commit that the spec names.

The start is that commit itself. What is cloned is a mirror of ours, so that no git program runs in the
agent's reach, and no credential, remote or setting of the repository gets there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Place
from pi_batch.workspaces.layout import write_heads
from pi_batch.workspaces.mirrors import Mirror, Position
from pi_batch.workspaces.saved import Start
from pi_batch.workspaces.starting import (
    heads_at,
    make_shadow,
    record_start,
    surrounding_repository,
    take_head,
)
from pi_batch.workspaces.workspace import Prepared, Request, TrackedWorkspace


class Origin(Struct, frozen=True):
    """What a workspace is cloned from."""

    fetch: Callable[[], Awaitable[tuple[Mirror, Position]]]
    """Raises: WorkspaceError."""
    name: str
    """Of the agent's directory."""
    subdirectory: str = "."
    """Where in the repository the agent works."""


def repository_workspace(origin: Origin, source: Path, state_dir: Path) -> TrackedWorkspace:
    """A workspace that is a clone of another repository; `source` is the spec's own directory."""
    return TrackedWorkspace(
        "clone", partial(_prepare, origin), source, state_dir, include_uncommitted=False, user_home=None
    )


async def _prepare(origin: Origin, request: Request) -> Prepared:
    """Make the clone. Raises: WorkspaceError."""
    mirror, at = await origin.fetch()
    async with mirror.held():
        checkout = await mirror.checkout(at)
        shadow = await make_shadow(request.git, request.shadow_dir, checkout)
        taken = await take_head(shadow, checkout)
    recorded = await record_start(shadow, taken.entries, checkout)
    write_heads(shadow.git_dir, heads_at(checkout, recorded.commit))
    root = request.tree_dir(origin.name)
    root.mkdir(parents=True)
    await shadow.make_repository(root / ".git")
    await shadow.check_out(recorded.tree, Place(root / ".git", root))
    path = root / origin.subdirectory
    if not path.is_dir() or not path.resolve().is_relative_to(root.resolve()):
        raise WorkspaceError(
            f"{mirror.address.url}: has no directory {origin.subdirectory!r} at {at.commit[:12]}"
        )
    start = Start(
        isolation="clone",
        source=str(request.source),
        source_root=str(request.source),
        path=str(path.resolve()),
        root=str(root),
        object_format=checkout.object_format,
        base_commit=at.commit,
        commit=recorded.commit,
        tree=recorded.tree,
        has_repository=True,
        index_commit=recorded.commit,
    )
    warnings = (*taken.warnings, *surrounding_repository(request.state_dir))
    return Prepared(Path(start.path), at.commit, start, warnings, recorded.stored)
