"""Tool call ids as a wire takes them: by its pattern, unique in a request, the same for call and result.

Sessions hold ids of other services (up to 450 characters, with `|` and `+`), of recordings that count
from `call_0` in every turn, or none at all.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from msgspec import Struct

_BAD = re.compile(r"[^A-Za-z0-9_-]")


class IdShape(Struct, frozen=True):
    """What a wire takes as an id."""

    pattern: re.Pattern[str]
    max_chars: int
    is_exact: bool = False
    """True: letters and digits only, exactly `max_chars` of them."""


MAX_GEMINI_NAME_CHARS = 63
CHAT_IDS = IdShape(re.compile(r".{1,40}\Z", re.DOTALL), 40)
ALNUM9_IDS = IdShape(re.compile(r"[A-Za-z0-9]{9}\Z"), 9, is_exact=True)
MESSAGES_IDS = IdShape(re.compile(r"[A-Za-z0-9_-]{1,64}\Z"), 64)


class WireIds:
    """The ids of one request, in the order of its messages."""

    def __init__(self, shape: IdShape) -> None:
        self._shape = shape
        self._used: set[str] = set()
        self._items: set[str] = set()
        self._latest: dict[str, str] = {}
        """Id in the session -> id on the wire, of the latest call that has it."""

    @property
    def known(self) -> AbstractSet[str]:
        """The sessions' ids of all calls so far."""
        return self._latest.keys()

    def call(self, call_id: str) -> str:
        """The id of a call; one that was there before becomes another."""
        wire = self._shaped(call_id)
        again = 1
        while wire in self._used:
            again += 1
            wire = self._hashed(call_id, f"{again}:{call_id}")
        self._used.add(wire)
        self._latest[call_id] = wire
        return wire

    def is_new(self, item_id: str) -> bool:
        """True the first time: a service may use the id of an item again, and takes none twice."""
        is_new = item_id not in self._items
        self._items.add(item_id)
        return is_new

    def result(self, call_id: str) -> str:
        """The id of a result: that of the call it answers."""
        return self._latest.get(call_id) or self._shaped(call_id)

    def _shaped(self, call_id: str) -> str:
        return call_id if self._shape.pattern.match(call_id) else self._hashed(call_id, call_id)

    def _hashed(self, call_id: str, hashed: str) -> str:
        shape = self._shape
        digest = hashlib.sha256(hashed.encode("utf-8", "replace")).hexdigest()
        if shape.is_exact:
            return digest[: shape.max_chars]
        return f"{_BAD.sub('_', call_id)[: shape.max_chars - 9] or 'call'}_{digest[:8]}"


def unique_ids(ids: Iterable[str], taken: AbstractSet[str]) -> list[str]:
    """The ids of a reply's calls, each made up anew where it is empty or was there before."""
    seen = set(taken)
    unique = []
    for call_id in ids:
        kept = call_id if call_id and call_id not in seen else f"call_{os.urandom(12).hex()}"
        seen.add(kept)
        unique.append(kept)
    return unique


def gemini_tool_name(name: str) -> str:
    """A name as Gemini takes it: no digit or hyphen first, shorter than 64 characters."""
    wire = tool_name(name)
    if not (wire[0].isalpha() or wire[0] == "_"):
        wire = f"_{wire}"
    if len(wire) <= MAX_GEMINI_NAME_CHARS:
        return wire
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    return f"{wire[: MAX_GEMINI_NAME_CHARS - 9]}_{digest[:8]}"


def tool_name(name: str) -> str:
    """A name in the history as every wire takes it; models invent names that none does."""
    return _BAD.sub("_", name)[:64] or "unnamed"
