"""isolation: none. The agent works in the user's directory itself.

The start is recorded all the same, in the private shadow, so that the report has a patch: of the whole
repository when the directory is in one, of the directory when it is small enough. The user's `.git` is
read and never written. What git ignores is not recorded, and does not appear in a patch later either when
an agent changes the ignore rules: an ignored file may hold a secret.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import structs

from pi_batch.git import GitTimeout, Place
from pi_batch.workspaces.boundary import in_thread
from pi_batch.workspaces.checkout import Checkout, find_top, read_checkout
from pi_batch.workspaces.listing import IgnoreRules, list_ignored
from pi_batch.workspaces.names import is_storable
from pi_batch.workspaces.reading import Reader
from pi_batch.workspaces.saved import Start
from pi_batch.workspaces.shadow import Shadow
from pi_batch.workspaces.starting import (
    Recorded,
    Taken,
    make_shadow,
    record_start,
    run_directories,
    take_files,
)
from pi_batch.workspaces.workspace import Prepared, Request, TrackedWorkspace

MAX_FILES = 20_000
MAX_BYTES = 500 << 20
LIST_TIMEOUT_S = 5.0


def workspace_in_place(
    source: Path, state_dir: Path, include_uncommitted: bool = True, user_home: Path | None = None
) -> TrackedWorkspace:
    """A workspace that is the user's directory."""
    return TrackedWorkspace(
        "none", prepare, source, state_dir, include_uncommitted=include_uncommitted, user_home=user_home
    )


async def prepare(request: Request) -> Prepared:
    """Record the start. Raises: WorkspaceError."""
    top = find_top(request.source)
    root = request.source if top is None else top
    rules = structs.replace(request.rules, directories=run_directories(request.state_dir, root))
    checkout = None if top is None else await read_checkout(request.git, top)
    shadow = await make_shadow(request.git, request.shadow_dir, checkout)
    taken = (
        await _take_small(shadow, root, rules)
        if checkout is None
        else await take_files(shadow, checkout, rules)
    )
    if taken is None:
        return Prepared(request.source, None, None, (_too_large(root),))
    recorded = await record_start(shadow, taken.entries, checkout)
    place = Place(shadow.git_dir, root, shadow.start_index)
    left_out = (*taken.left_out, *await list_ignored(request.git, place, rules))
    start = _start(request, root, shadow.object_format, checkout, recorded)
    start = structs.replace(
        start,
        excluded=tuple(os.fsdecode(path) for path in rules.directories),
        ignored=tuple(os.fsdecode(path) for path in left_out),
    )
    return Prepared(request.source, start.base_commit, start, taken.warnings, recorded.stored)


async def _take_small(shadow: Shadow, root: Path, rules: IgnoreRules) -> Taken | None:
    """A directory without a repository; None when it is too large to be read for the sake of a patch."""
    try:
        others = await shadow.list_new(root, rules, timeout_s=LIST_TIMEOUT_S)
    except GitTimeout:
        return None
    names = [path for path in others.names if is_storable(path)]
    if len(names) > MAX_FILES or await in_thread(lambda _: _size_bytes(root, names)) > MAX_BYTES:
        return None
    reader = Reader(shadow.store, {})
    reading = await in_thread(lambda checkpoint: reader.read(root, names, checkpoint))
    left_out = tuple(path for path in others.names if path not in reading.entries)
    return Taken(reading.entries, others.complaints, left_out)


def _size_bytes(root: Path, names: Iterable[bytes]) -> int:
    total = 0
    for name in names:
        try:
            total += os.lstat(os.path.join(os.fsencode(root), name)).st_size  # noqa: PTH118 bytes
        except OSError:
            continue
    return total


def _start(
    request: Request, root: Path, object_format: str, checkout: Checkout | None, recorded: Recorded
) -> Start:
    base = None if checkout is None or checkout.head is None else checkout.head.oid
    return Start(
        isolation="none",
        source=str(request.source),
        source_root=str(root),
        path=str(request.source),
        root=str(root),
        object_format=object_format,
        base_commit=base,
        commit=recorded.commit,
        tree=recorded.tree,
        has_repository=checkout is not None,
        index_commit=base,
        trusts_exec_bit=checkout is None or checkout.trusts_exec_bit,
    )


def _too_large(root: Path) -> str:
    return (
        f"changes are not tracked: {str(root)!r} is in no git repository and holds more than"
        f" {MAX_FILES} files or {MAX_BYTES >> 20} MB"
    )
