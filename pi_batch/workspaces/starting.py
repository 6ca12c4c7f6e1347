"""How a start is recorded: the parts that clone, copy and none have in common."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git
from pi_batch.workspaces.boundary import in_thread
from pi_batch.workspaces.checkout import Checkout
from pi_batch.workspaces.layout import Heads, write_shadow
from pi_batch.workspaces.links import with_portable_links
from pi_batch.workspaces.listing import IgnoreRules, list_checkout
from pi_batch.workspaces.names import display, is_storable, shown
from pi_batch.workspaces.objects import gather_objects, link_or_copy, object_directories
from pi_batch.workspaces.reading import SUBMODULE, Entries, Reader
from pi_batch.workspaces.shadow import Shadow, StoredTree

_MESSAGE = "pi-batch: the files as the task found them"


class Taken(Struct, frozen=True):
    """The files of a start."""

    entries: Entries
    warnings: tuple[str, ...]
    left_out: tuple[bytes, ...] = ()
    """Paths that are there and not in the start (directories with a slash)."""


class Recorded(Struct, frozen=True):
    """A start in the shadow."""

    commit: str
    tree: str
    stored: StoredTree
    """What the tree holds."""


async def make_shadow(git: Git, git_dir: Path, checkout: Checkout | None) -> Shadow:
    """Make the shadow repository, without objects; it has a checkout's refs and ignore rules."""
    if checkout is None:
        shadow = Shadow(git, git_dir, "sha1")
        write_shadow(git_dir, "sha1", Heads("ref: refs/heads/main"))
        return shadow
    heads = Heads(_head_of(checkout), checkout.refs, checkout.symbolic, checkout.shallow, checkout.exclude)
    write_shadow(git_dir, checkout.object_format, heads)
    return Shadow(git, git_dir, checkout.object_format)


async def bring_objects(shadow: Shadow, checkout: Checkout) -> None:
    """Give the shadow all objects of a checkout, those that it borrows included.

    Linked or copied rather than borrowed: the user, or an agent that works in place, may gc, rewrite or
    delete the repository before a run is resumed.
    """
    stores, target = object_directories(checkout.objects), shadow.git_dir / "objects"
    await in_thread(lambda checkpoint: gather_objects(stores, target, link_or_copy, checkpoint))


def _head_of(checkout: Checkout) -> str:
    if checkout.branch is not None:
        return f"ref: {os.fsdecode(checkout.branch)}"
    if checkout.head is None:
        raise WorkspaceError(f"{checkout.top}: HEAD names neither a branch nor a commit")
    return checkout.head.oid


async def take_files(shadow: Shadow, checkout: Checkout, rules: IgnoreRules) -> Taken:
    """Take the files of a checkout as they are on disk: tracked ones, and new ones that are not ignored."""
    listing = await list_checkout(shadow.git, checkout.top, rules)
    await bring_objects(shadow, checkout)  # after the index was read: what it names is there by now
    names = [path for path in listing.names if is_storable(path)]
    reader = Reader(shadow.store, listing.stored, checkout.trusts_exec_bit)
    reading = await in_thread(lambda checkpoint: reader.read(checkout.top, names, checkpoint))
    warnings = [f"{display(path)!r} is not in the start: {why}" for path, why in reading.skipped.items()]
    warnings += _say("left as Git LFS pointers, as no filter is run", reading.pointers)
    warnings += _say("submodules taken as plain files, without a history of their own", listing.submodules)
    warnings += _say("other repositories inside, not taken along", listing.left_out)
    warnings += _say("not checked out (sparse) and so not in the start", listing.not_on_disk)
    dropped = [path for path in listing.names if not is_storable(path)]
    warnings += _say("not in the start, as git takes no such names", dropped)
    return Taken(reading.entries, tuple(warnings), (*listing.left_out, *dropped, *reading.skipped))


async def take_head(shadow: Shadow, checkout: Checkout) -> Taken:
    """Take the files of a checkout's last commit, as they are stored."""
    if checkout.head is None:
        return Taken({}, ("no commit yet, and include_uncommitted is false: the start is empty",))
    await bring_objects(shadow, checkout)
    stored = (await shadow.read_tree(checkout.head.oid)).entries
    submodules = [path for path, entry in stored.items() if entry.mode == SUBMODULE]
    entries = {path: entry for path, entry in stored.items() if entry.mode != SUBMODULE}
    warnings = _say("submodules are left empty, as include_uncommitted is false", submodules)
    attributes = entries.get(b".gitattributes")
    if attributes is not None:
        content = (await shadow.read_blobs([attributes.oid]))[attributes.oid]
        if b"filter=" in content:
            warnings += (".gitattributes asks for filters (Git LFS): none is run, files are as stored",)
    return Taken(entries, warnings)


async def relink(shadow: Shadow, entries: Entries, spellings: Sequence[Path]) -> Taken:
    """Turn absolute links into the user's directory, however spelled, into relative ones."""
    links = await shadow.read_links(entries)
    changed = with_portable_links(entries, links, [os.fsencode(path) for path in spellings], shadow.store)
    altered = [path for path in links if changed[path] != entries[path]]
    return Taken(changed, _say("absolute links into the source, made relative", altered))


async def record_start(shadow: Shadow, entries: Entries, checkout: Checkout | None) -> Recorded:
    """Store the start.

    Where it is what HEAD holds, it is HEAD: `git log`, `git describe` and `git show HEAD` then say in the
    workspace what they say to the user. Otherwise it is a commit on top, the same for the same files.
    """
    head = checkout.head if checkout is not None else None
    stored = frozenset() if head is None else (await shadow.read_tree(head.oid)).trees | {head.tree}
    written = await shadow.write_tree(entries, stored)
    await shadow.write_start_index(entries)
    tree, recorded = written.top, StoredTree(entries, written.ids)
    if head is not None and head.tree == tree:
        return Recorded(head.oid, tree, recorded)
    parent, time_s = (None, None) if head is None else (head.oid, head.time_s)
    return Recorded(shadow.write_commit(tree, parent, time_s, _MESSAGE), tree, recorded)


def run_directories(state_dir: Path, top: Path) -> tuple[bytes, ...]:
    """The run's own directory, where it lies inside the user's tree: never part of the work."""
    if state_dir == top or not state_dir.is_relative_to(top):
        return ()
    return (os.fsencode(state_dir.relative_to(top)),)


def surrounding_repository(state_dir: Path) -> tuple[str, ...]:
    """A warning when the run's directory lies in a repository: an agent's git could reach that one."""
    for directory in (state_dir, *state_dir.parents):
        if (directory / ".git").exists():
            return (f"the temporary directory {str(state_dir)!r} lies in the repository {str(directory)!r}",)
    return ()


def _say(what: str, paths: list[bytes]) -> tuple[str, ...]:
    return (f"{what}: {shown(paths)}",) if paths else ()


def heads_at(checkout: Checkout, commit: str) -> Heads:
    """The refs of a clone: as in the checkout, but with its branch, or the detached HEAD, at the start."""
    refs: Mapping[bytes, str] = checkout.refs
    head = commit
    if checkout.branch is not None:
        refs = {**refs, checkout.branch: commit}
        head = _head_of(checkout)
    return Heads(head, refs, checkout.symbolic, checkout.shallow, checkout.exclude)
