"""What a prompt cache makes of a run's requests: how much of each is read, written, or neither.

The Messages API caches at marks: a request writes the prefix up to each of its marks, and reads the longest
prefix that was written before and ends at most 20 blocks before one of its marks. Chat Completions services
cache by themselves, whatever beginning two requests share.

Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LOOK_BACK = 20
MARK = b',"cache_control":{"type":"ephemeral"}'


@dataclass(frozen=True, slots=True)
class Cached:
    """One request, in bytes of its blocks."""

    read: int
    written: int
    whole: int


def messages_cache(bodies: Iterable[Mapping[str, Any]]) -> list[Cached]:
    """Requests to the Messages API, in order, none of them expired."""
    known: set[str] = set()
    found = []
    for body in bodies:
        prefixes = list(_prefixes(body))
        marks = [index for index, (_, _, is_marked) in enumerate(prefixes) if is_marked]
        near = {index for mark in marks for index in range(max(0, mark - LOOK_BACK), mark + 1)}
        read = max((prefixes[index][1] for index in near if prefixes[index][0] in known), default=0)
        last = prefixes[marks[-1]][1] if marks else 0
        known |= {prefixes[mark][0] for mark in marks}
        found.append(Cached(read, max(0, last - read), prefixes[-1][1]))
    return found


def _prefixes(body: Mapping[str, Any]) -> Iterator[tuple[str, int, bool]]:
    """For each block: a name of everything up to it, its length, and whether it is marked."""
    sha, length = hashlib.sha256(), 0
    for role, block in _blocks(body):
        plain = {key: value for key, value in block.items() if key != "cache_control"}
        wire = json.dumps([role, plain]).encode()
        sha.update(wire)
        length += len(wire)
        yield sha.hexdigest(), length, "cache_control" in block


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from (("tool", tool) for tool in body.get("tools", ()))
    yield from (("system", block) for block in body.get("system", ()))
    for message in body["messages"]:
        yield from ((message["role"], block) for block in message["content"])


def shared_prefix(before: bytes, after: bytes) -> bool:
    """True when a request begins with all messages of the one before, byte for byte, marks aside."""
    start = b'"messages":'
    old, new = (raw.replace(MARK, b"") for raw in (before, after))
    old, new = old[old.index(start) :], new[new.index(start) :]
    return new.startswith(old.removesuffix(b"]}").removesuffix(b"]}"))
