"""A YAML file as written: every scalar keeps its text, everything knows its file and line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.wording import quoted

Style = Literal["plain", "quoted", "literal", "folded", "refused"]
"""`refused`: stands where an alias stood; a problem was noted, so nobody asks for its value."""
Step = str | int
Steps = tuple[Step, ...]
"""A way down a tree: keys and list positions."""


class Source(Struct, frozen=True):
    """A file that nodes come from."""

    name: str
    """As messages and reports show it: one printable line."""
    path: Path
    """Absolute."""
    sha256: str
    """Of the file's bytes."""
    directory: Path
    """Where relative paths written in it start; for a built-in spec the current directory."""


class Scalar(Struct, frozen=True):
    """One value, as its text."""

    source: Source
    line: int
    text: str
    style: Style = "plain"

    @property
    def is_null(self) -> bool:
        """Whether it was written as null, as ~, or as nothing."""
        return self.style == "plain" and self.text in ("", "~", "null")


class Items(Struct, frozen=True):
    """A list."""

    source: Source
    line: int
    nodes: tuple[Node, ...]


class Entry(Struct, frozen=True):
    """One key of a mapping and what stands under it."""

    key: str
    line: int
    """The key's."""
    node: Node


class Fields(Struct, frozen=True):
    """A mapping: keys are unique, in the order they were written."""

    source: Source
    line: int
    entries: tuple[Entry, ...]

    def entry(self, key: str) -> Entry | None:
        """The entry of that name."""
        return next((entry for entry in self.entries if entry.key == key), None)

    def get(self, key: str) -> Node | None:
        """What stands under a key."""
        entry = self.entry(key)
        return entry.node if entry else None

    def without(self, *keys: str) -> Fields:
        """The same mapping, some keys left out."""
        return replace(self, entries=tuple(entry for entry in self.entries if entry.key not in keys))

    def replacing(self, key: str, node: Node) -> Fields:
        """The same mapping with another value under a key that it has."""
        entries = tuple(replace(entry, node=node) if entry.key == key else entry for entry in self.entries)
        return replace(self, entries=entries)


Node = Scalar | Items | Fields


def got(node: Node) -> str:
    """What a node is, for `got ..., need ...`."""
    match node:
        case Fields():
            return "a mapping"
        case Items():
            return "a list"
        case Scalar() if node.is_null:
            return "nothing"
        case Scalar():
            return quoted(node.text)
        case _:
            assert_never(node)


def descend(node: Node | None, steps: Steps) -> Node | None:
    """What stands at the end of a way down, or None."""
    for step in steps:
        match node:
            case Fields():
                node = node.get(str(step))
            case Items() if isinstance(step, int) and step < len(node.nodes):
                node = node.nodes[step]
            case _:
                return None
    return node


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        match current:
            case Fields():
                waiting.extend(entry.node for entry in current.entries)
            case Items():
                waiting.extend(current.nodes)
            case Scalar():
                pass


def merge(defaults: Fields, over: Fields, *, whole: frozenset[Steps], steps: Steps = ()) -> Fields:
    """Mappings merge key by key; anything else of `over` replaces.

    `whole`: ways to mappings that are one value (a JSON Schema) and replace as well.
    """
    merged = {entry.key: entry for entry in defaults.entries}
    for entry in over.entries:
        below = merged.get(entry.key)
        here = (*steps, entry.key)
        if below and isinstance(below.node, Fields) and isinstance(entry.node, Fields) and here not in whole:
            node = merge(below.node, entry.node, whole=whole, steps=here)
            merged[entry.key] = replace(entry, node=node)
        else:
            merged[entry.key] = entry
    own = [merged.pop(entry.key) for entry in over.entries]
    return replace(over, entries=(*own, *merged.values()))
