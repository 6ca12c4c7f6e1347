"""Protected paths: which they are, and a tree in which they are as at the start.

Patterns are .gitignore's, relative to the workspace; the last one that matches decides, `!` lifts. A path
is also protected when it is one in another spelling: letter case (on many disks `Tests/` is `tests/`, and
make prefers `makefile`), or through a link of the start (`tests -> src/tests` protects `src/tests`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.links import inner_links
from pi_batch.workspaces.reading import Entries, Entry

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_MAX_SPELLINGS = 256


class _Rule(Struct, frozen=True):
    spec: GitIgnoreSpec
    lifts: bool


class Protection(Struct, frozen=True):
    """Compiled patterns for one workspace."""

    rules: tuple[_Rule, ...]
    folded_rules: tuple[_Rule, ...]
    """The same, for names in lower case."""
    prefix: bytes
    """The workspace's path in its repository, empty or ending in a slash; other paths are not protected."""
    link_names: Mapping[bytes, tuple[bytes, ...]]
    """By path: the links of the start that name it."""

    def covers(self, path: bytes) -> bool:
        """Whether a path is protected, or stands where a protected directory would be."""
        return any(self._covers(name) for name in self._spellings(path))

    def _covers(self, path: bytes) -> bool:
        if not path.startswith(self.prefix):
            return False
        # The patterns' "." does not match a line feed.
        name = os.fsdecode(path[len(self.prefix) :]).replace("\n", "\r")
        return _protects(self.rules, name) or _protects(self.folded_rules, name.casefold())

    def _spellings(self, path: bytes) -> Iterator[bytes]:
        seen = {path: None}
        waiting = [path]
        while waiting:
            spelling = waiting.pop()
            yield spelling
            if len(seen) >= _MAX_SPELLINGS or not self.link_names:
                continue
            for part in _ancestors(spelling):
                rest = spelling[len(part) :]
                for link in self.link_names.get(part, ()):
                    if link + rest not in seen:
                        seen[link + rest] = None
                        waiting.append(link + rest)


def _protects(rules: Sequence[_Rule], name: str) -> bool:
    # A name that no rule knows may stand where a protected directory would be: "_" is a file in there.
    decision = _decision(rules, name)
    return bool(_decision(rules, f"{name}/_")) if decision is None else decision


def _decision(rules: Sequence[_Rule], name: str) -> bool | None:
    for rule in reversed(rules):
        if rule.spec.match_file(name):
            return not rule.lifts
    return None


def _ancestors(path: bytes) -> Iterator[bytes]:
    """The path itself, its directory, and so on; not the top."""
    while path:
        yield path
        path = path.rpartition(b"/")[0]


def compile_protection(patterns: Sequence[str], prefix: bytes, links: Mapping[bytes, bytes]) -> Protection:
    """Make a Protection from globs and the start's links (path: target).

    Raises: WorkspaceError naming a pattern that is none.
    """
    names: dict[bytes, list[bytes]] = {}
    for link, target in inner_links(links).items():
        names.setdefault(target, []).append(link)
    return Protection(
        rules=tuple(_rule(pattern) for pattern in patterns),
        folded_rules=tuple(_rule(pattern.casefold()) for pattern in patterns),
        prefix=prefix,
        link_names={target: tuple(found) for target, found in names.items()},
    )


def _rule(pattern: str) -> _Rule:
    from pathspec import GitIgnoreSpec

    body = pattern.removeprefix("!")
    lifts = body != pattern
    body = body.removeprefix("./")
    if body.startswith(("#", "!")):
        body = f"\\{body}"
    try:
        return _Rule(GitIgnoreSpec.from_lines([body]), lifts)
    except ValueError as error:
        raise WorkspaceError(f"protect: {pattern!r}: {error}") from error


class Restored(Struct, frozen=True):
    """A tree with its protected paths as at the start."""

    entries: Entries
    touched: tuple[bytes, ...]
    """Protected paths that differed, sorted."""


def restore(start: Entries, current: Entries, protection: Protection) -> Restored:
    """Take protected paths from the start; whatever stands in their way, or is new there, goes."""
    changed = [path for path in start.keys() | current.keys() if start.get(path) != current.get(path)]
    touched = {path for path in changed if protection.covers(path)}
    remaining = {path: entry for path, entry in current.items() if path not in touched}
    entries, removed = put_back(remaining, {path: start[path] for path in touched if path in start})
    return Restored(entries, tuple(sorted(touched.union(removed))))


def put_back(entries: Entries, back: Entries) -> tuple[dict[bytes, Entry], list[bytes]]:
    """A tree with some entries put back, and what they pushed out.

    A file or link where they need a directory goes, and so does what lies under their own names.
    """
    needed = {ancestor for path in back for ancestor in list(_ancestors(path))[1:]}
    removed = [
        path
        for path in entries
        if path in needed or (back and any(ancestor in back for ancestor in list(_ancestors(path))[1:]))
    ]
    gone = frozenset(removed)
    kept = {path: entry for path, entry in entries.items() if path not in gone}
    return {**kept, **back}, removed
