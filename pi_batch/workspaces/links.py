"""Symbolic links that lead from one tree into another.

A link with an absolute target keeps its meaning when its tree is copied, and that meaning is the tree it
was copied from: an agent's write would land in the user's checkout, a check in the clean copy would read
the agent's directory. So a link into the tree that is copied becomes relative in the copy, and one that
reaches that tree by other ways is left out of clean copies. Links to elsewhere stay as they are.

What the code under test opens by an absolute path of its own is not a matter of links: only a sandbox that
does not show the agent's directory to the checks prevents that.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path

from pi_batch.workspaces.objects import ObjectStore
from pi_batch.workspaces.reading import LINK, Entries, Entry


def inner_target(link: bytes, target: bytes, roots: Sequence[bytes]) -> bytes | None:
    """The path in the tree that a link names, by its text; None when it names something else.

    `roots` are the absolute paths of the tree, the first one the place where relative targets start.
    """
    if not target.startswith(b"/"):
        inside = posixpath.normpath(posixpath.join(b"/", posixpath.dirname(link), target))
        if not _climbs_out(link, target):
            return inside[1:]
        target = posixpath.join(roots[0], posixpath.dirname(link), target)
    absolute = posixpath.normpath(target)
    for root in roots:
        if absolute == root:
            return b""
        if absolute.startswith(root.rstrip(b"/") + b"/"):
            return absolute[len(root.rstrip(b"/")) + 1 :]
    return None


def _climbs_out(link: bytes, target: bytes) -> bool:
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(link), target))
    return joined == b".." or joined.startswith(b"../")


def portable_target(link: bytes, target: bytes, roots: Sequence[bytes]) -> bytes:
    """The target for a copy of the tree: relative when it lies in the tree, as it is otherwise."""
    inside = inner_target(link, target, roots)
    if inside is None or not (target.startswith(b"/") or _climbs_out(link, target)):
        return target
    return posixpath.relpath(b"/" + inside, b"/" + posixpath.dirname(link))


def inner_links(links: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Of a tree's links, those that stay inside: the link's path, and the path that it names."""
    found: dict[bytes, bytes] = {}
    for link, target in links.items():
        if not target.startswith(b"/") and not _climbs_out(link, target):
            found[link] = posixpath.normpath(posixpath.join(posixpath.dirname(link), target))
    return found


def links_back(root: Path, links: Mapping[bytes, bytes], forbidden: Sequence[Path]) -> tuple[bytes, ...]:
    """Of a tree's links to elsewhere, those that end, on disk, in one of the forbidden directories."""
    roots = (os.fsencode(root),)
    outside = (link for link, target in links.items() if inner_target(link, target, roots) is None)
    return tuple(link for link in outside if _ends_in(root, link, forbidden))


def _ends_in(root: Path, link: bytes, forbidden: Sequence[Path]) -> bool:
    real = os.path.realpath(os.path.join(os.fsencode(root), link))  # noqa: PTH118 bytes
    return any(real == os.fsencode(path) or real.startswith(os.fsencode(path) + b"/") for path in forbidden)


def with_portable_links(
    entries: Entries, links: Mapping[bytes, bytes], roots: Sequence[bytes], store: ObjectStore
) -> dict[bytes, Entry]:
    """A tree whose links into itself are relative; new targets are put into the store."""
    result = dict(entries)
    for link, target in links.items():
        portable = portable_target(link, target, roots)
        if portable != target:
            result[link] = Entry(LINK, store.add(portable))
    return result
