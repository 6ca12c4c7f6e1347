"""isolation: clone. The agent works in a repository of its own, at a snapshot of the user's checkout.

The whole repository is taken, and the agent's directory is the one in it that corresponds to the user's.
The agent's repository has the checkout's branch (or its detached HEAD), other branches, tags and
remote-tracking branches, and no remote: nothing that is pushed there reaches the user's. Object files are
copied into it, never linked. Files that git ignores are not taken; `setup` makes what they held.

The start is HEAD itself where nothing is uncommitted, otherwise one commit on top of it, to which the
agent's branch points: `git status` is clean there. Submodules that are checked out are taken as plain
files; a sparse checkout is taken as far as it is on disk; a partial clone works as long as the files are
there. Patches are relative to the repository's top, reported paths to the workspace.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import structs

from pi_batch.errors import WorkspaceError
from pi_batch.git import Place
from pi_batch.workspaces.checkout import Checkout, find_top, read_checkout
from pi_batch.workspaces.layout import write_heads
from pi_batch.workspaces.reading import Entries
from pi_batch.workspaces.saved import Start
from pi_batch.workspaces.starting import (
    Recorded,
    heads_at,
    make_shadow,
    record_start,
    relink,
    run_directories,
    surrounding_repository,
    take_files,
    take_head,
)
from pi_batch.workspaces.workspace import Prepared, Request, TrackedWorkspace


def clone_workspace(
    source: Path, state_dir: Path, include_uncommitted: bool = True, user_home: Path | None = None
) -> TrackedWorkspace:
    """A workspace that is a repository of its own."""
    return TrackedWorkspace(
        "clone", prepare, source, state_dir, include_uncommitted=include_uncommitted, user_home=user_home
    )


async def prepare(request: Request) -> Prepared:
    """Make the clone. Raises: WorkspaceError."""
    top = find_top(request.source)
    if top is None:
        raise WorkspaceError(
            f"{request.source}: is not in a git repository; use `isolation: copy`, or `git init` it"
        )
    checkout = await read_checkout(request.git, top)
    shadow = await make_shadow(request.git, request.shadow_dir, checkout)
    if request.include_uncommitted:
        rules = structs.replace(request.rules, directories=run_directories(request.state_dir, top))
        taken = await take_files(shadow, checkout, rules)
    else:
        taken = await take_head(shadow, checkout)
    linked = await relink(shadow, taken.entries, (top, _named_top(request, top)))
    _need_files(request.source, top, linked.entries)
    recorded = await record_start(shadow, linked.entries, checkout)
    write_heads(shadow.git_dir, heads_at(checkout, recorded.commit))
    root = request.tree_dir(top.name)
    root.mkdir(parents=True)
    await shadow.make_repository(root / ".git")
    await shadow.check_out(recorded.tree, Place(root / ".git", root))
    start = _start(request, checkout, recorded, root)
    Path(start.path).mkdir(parents=True, exist_ok=True)
    warnings = (*taken.warnings, *linked.warnings, *surrounding_repository(request.state_dir))
    return Prepared(Path(start.path), start.base_commit, start, warnings, recorded.stored)


def _named_top(request: Request, top: Path) -> Path:
    """The work tree as the user's spelling of the workspace leads to it."""
    depth = len(request.source.relative_to(top).parts)
    named = (request.named, *request.named.parents)[min(depth, len(request.named.parents))]
    return named if named.resolve() == top else top


def _start(request: Request, checkout: Checkout, recorded: Recorded, root: Path) -> Start:
    return Start(
        isolation="clone",
        source=str(request.source),
        source_root=str(checkout.top),
        path=str(root / request.source.relative_to(checkout.top)),
        root=str(root),
        object_format=checkout.object_format,
        base_commit=None if checkout.head is None else checkout.head.oid,
        commit=recorded.commit,
        tree=recorded.tree,
        has_repository=True,
        index_commit=recorded.commit,
    )


def _need_files(source: Path, top: Path, entries: Entries) -> None:
    """A directory whose files are all ignored would come out empty: that is never what was meant."""
    if source == top:
        return
    prefix = os.fsencode(source.relative_to(top)) + b"/"
    if any(source.iterdir()) and not any(path.startswith(prefix) for path in entries):
        raise WorkspaceError(
            f"{source}: none of its files is in the repository {top} (ignored, or not committed);"
            " use `isolation: copy`"
        )
