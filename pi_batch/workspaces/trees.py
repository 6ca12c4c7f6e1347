r"""Writes tree objects: a flat tree becomes git's nested ones.

By hand, because `git write-tree` freshens: it sets the time of every object that is already there, and the
shadow shares its object files with the user's repository, which is not to change in the least.

Source: git's own fsck; an entry is "<mode> <name>\0<id>", sorted as if a directory's name ended in "/".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.names import display
from pi_batch.workspaces.objects import ObjectStore
from pi_batch.workspaces.reading import Entries

_DIRECTORY_MODE = b"40000"


class _Line(Struct, frozen=True, order=True):
    sort_name: bytes
    name: bytes
    mode: bytes
    oid: str


class Trees(Struct, frozen=True):
    """The tree objects of one flat tree."""

    top: str
    ids: frozenset[str]
    """Of all of them, the top's too."""


def write_trees(entries: Entries, store: ObjectStore, stored: Collection[str]) -> Trees:
    """Store the trees whose ids are not in `stored`.

    Raises: WorkspaceError when one path is a file and a directory; OSError.
    """
    directories = _directories(entries)
    for path, entry in entries.items():
        directory, _, name = path.rpartition(b"/")
        if path in directories:
            raise WorkspaceError(f"{display(path)!r} became a directory while it was read")
        directories[directory].append(_Line(name, name, entry.mode.encode("ascii"), entry.oid))
    ids = set()
    for directory in sorted(directories, key=lambda path: (-path.count(b"/"), path == b"")):
        oid = _write_tree(sorted(directories[directory]), store, stored)
        ids.add(oid)
        if directory == b"":
            return Trees(oid, frozenset(ids))
        parent, _, name = directory.rpartition(b"/")
        directories[parent].append(_Line(name + b"/", name, _DIRECTORY_MODE, oid))
    raise AssertionError  # the top is always among them


def _directories(entries: Entries) -> dict[bytes, list[_Line]]:
    found: dict[bytes, list[_Line]] = {b"": []}
    for path in entries:
        for directory in _parents(path):
            if directory in found:
                break
            found[directory] = []
    return found


def _parents(path: bytes) -> Iterator[bytes]:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path


def _write_tree(lines: list[_Line], store: ObjectStore, stored: Collection[str]) -> str:
    content = b"".join(line.mode + b" " + line.name + b"\0" + bytes.fromhex(line.oid) for line in lines)
    oid = store.identify(content, "tree")
    return oid if oid in stored else store.add(content, "tree")
