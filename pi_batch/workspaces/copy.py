"""isolation: copy. The agent works in a copy of a directory, a repository or not, with all that is in it.

Ignored files are copied too; only `.pi-batch` and what is no file, link or directory is not. A `.git` at
the top is replaced by a repository of its own, as in a clone, with HEAD where the user's is: uncommitted
work shows there as such, staged or not. Repositories further inside come without their `.git`.

The start holds everything that was copied. Files that tools make anew (`names.BY_PRODUCTS`: bytecode,
caches, node_modules, virtual environments) are in it, so that checks find them in the clean copy, and are
never in a patch unless the repository tracks them: what an agent installs by hand does not count,
`setup` does. `include_uncommitted` has no meaning here.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import structs

from pi_batch.errors import WorkspaceError
from pi_batch.git import Place
from pi_batch.workspaces.boundary import in_thread
from pi_batch.workspaces.checkout import Checkout, read_checkout
from pi_batch.workspaces.copying import Copied, TreeCopy
from pi_batch.workspaces.names import is_storable, shown
from pi_batch.workspaces.reading import Entries, Reader
from pi_batch.workspaces.saved import Start
from pi_batch.workspaces.shadow import Shadow
from pi_batch.workspaces.starting import (
    Recorded,
    bring_objects,
    make_shadow,
    record_start,
    run_directories,
    surrounding_repository,
)
from pi_batch.workspaces.workspace import Prepared, Request, TrackedWorkspace


def copy_workspace(
    source: Path, state_dir: Path, include_uncommitted: bool = True, user_home: Path | None = None
) -> TrackedWorkspace:
    """A workspace that is a copy of a directory."""
    return TrackedWorkspace(
        "copy", prepare, source, state_dir, include_uncommitted=include_uncommitted, user_home=user_home
    )


async def prepare(request: Request) -> Prepared:
    """Make the copy. Raises: WorkspaceError."""
    root = request.tree_dir(request.source.name)
    tree_copy = TreeCopy(
        source=request.source,
        target=root,
        skipped=run_directories(request.state_dir, request.source),
        skipped_names=frozenset({b".pi-batch"}),
        link_roots=(os.fsencode(request.source), os.fsencode(request.named)),
    )
    copied = await in_thread(tree_copy.make)
    checkout, repository_warnings = await _read_repository(request, copied)
    shadow = await make_shadow(request.git, request.shadow_dir, checkout)
    if checkout is not None:
        await bring_objects(shadow, checkout)
    recorded, left_out = await _record(shadow, root, checkout, copied)
    if checkout is not None:
        await _give_repository(shadow, checkout, root)
    start = structs.replace(
        _start(request, root, shadow.object_format, checkout, recorded),
        empty_directories=tuple(os.fsdecode(path) for path in copied.empty_directories),
        ignored=tuple(os.fsdecode(path) for path in left_out),
    )
    warnings = [*_warnings(copied, left_out), *repository_warnings]
    warnings += surrounding_repository(request.state_dir)
    return Prepared(root, start.base_commit, start, tuple(warnings), recorded.stored)


async def _read_repository(request: Request, copied: Copied) -> tuple[Checkout | None, tuple[str, ...]]:
    if b".git" not in copied.repositories:
        return None, ()
    copied.repositories.remove(b".git")
    try:
        return await read_checkout(request.git, request.source), ()
    except WorkspaceError as error:
        return None, (f"copied without its repository: {error}",)


async def _record(
    shadow: Shadow, root: Path, checkout: Checkout | None, copied: Copied
) -> tuple[Recorded, list[bytes]]:
    """The start is read from the copy: what the agent gets is what is recorded, whatever the user does."""
    stored: Entries = {}
    if checkout is not None and checkout.head is not None:
        stored = (await shadow.read_tree(checkout.head.oid)).entries
    names = [path for path in copied.files if is_storable(path)]
    reader = Reader(shadow.store, stored)
    reading = await in_thread(lambda checkpoint: reader.read(root, names, checkpoint))
    recorded = await record_start(shadow, reading.entries, checkout)
    return recorded, [path for path in copied.files if path not in reading.entries]


async def _give_repository(shadow: Shadow, checkout: Checkout, root: Path) -> None:
    await shadow.make_repository(root / ".git")
    place = Place(root / ".git", root)
    await shadow.set_index(None if checkout.head is None else checkout.head.oid, place)
    await shadow.git.run(place, "update-index", "-q", "--refresh", accepted=(0, 1))


def _start(
    request: Request, root: Path, object_format: str, checkout: Checkout | None, recorded: Recorded
) -> Start:
    base = None if checkout is None or checkout.head is None else checkout.head.oid
    return Start(
        isolation="copy",
        source=str(request.source),
        source_root=str(request.source),
        path=str(root),
        root=str(root),
        object_format=object_format,
        base_commit=base,
        commit=recorded.commit,
        tree=recorded.tree,
        has_repository=checkout is not None,
        index_commit=base,
        keeps_by_products=True,
    )


def _warnings(copied: Copied, left_out: list[bytes]) -> tuple[str, ...]:
    found = (
        ("not copied, as they are no files", copied.special),
        ("not copied, as they cannot be read", copied.unreadable),
        ("repositories inside, copied without their .git", copied.repositories),
        ("absolute links into the source, made relative", copied.relinked),
        ("copied, but in no patch", left_out),
        (
            "copied virtual environments, which name the original place (make them in setup)",
            copied.environments,
        ),
    )
    return tuple(f"{what}: {shown(paths)}" for what, paths in found if paths)
