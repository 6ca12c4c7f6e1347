"""The bytes of messages already sent: each is encoded once per session.

A request's messages are those of the request before, plus a few; the gate hands the same objects on. So
identity decides what is known, units (what a wire writes as one) are kept in order, and only what differs
from the first change on is encoded anew. The 200th turn costs what the 10th does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from operator import is_
from typing import NamedTuple, Protocol

from pi_batch.messages import AssistantMessage, Message, ToolCall, ToolDeclaration
from pi_batch.providers.tool_ids import IdShape, WireIds

MAX_SESSIONS = 64
"""Histories kept per provider: more than run at once; the least recently used goes first."""


class Unit(NamedTuple):
    """Messages that a wire writes together."""

    messages: tuple[Message, ...]
    wire: bytes
    """Comma-separated JSON objects; empty when nothing of it is sent."""

    @property
    def has_calls(self) -> bool:
        """True for a reply that calls tools."""
        first = self.messages[0]
        return isinstance(first, AssistantMessage) and bool(first.tool_calls)


class UnitRules(Protocol):
    """What a wire does with messages."""

    id_shape: IdShape

    def joins(self, before: Message, message: Message) -> bool:
        """True when the message goes into one unit with the one before it."""
        ...

    def encode(self, messages: Sequence[Message], ids: WireIds) -> bytes:
        """One unit's bytes."""
        ...


class EncodedHistory:
    """The units of the latest request of one session."""

    def __init__(self, rules: UnitRules) -> None:
        self._rules = rules
        self._units: list[Unit] = []
        self._messages: list[Message] = []
        """All messages of the units, flat."""
        self._ids = WireIds(rules.id_shape)
        self._tools: tuple[tuple[ToolDeclaration, ...], bytes] = ((), b"")

    @property
    def call_ids(self) -> AbstractSet[str]:
        """The ids of all calls in the history."""
        return self._ids.known

    def encode(self, messages: Sequence[Message]) -> list[Unit]:
        """All units of this history, in order."""
        kept = self._keep(messages)
        unit: list[Message] = []
        for message in messages[kept:]:
            if unit and not self._rules.joins(unit[-1], message):
                self._add(unit)
                unit = []
            unit.append(message)
        if unit:
            self._add(unit)
        return self._units

    def tools(
        self, tools: tuple[ToolDeclaration, ...], encode: Callable[[Sequence[ToolDeclaration]], bytes]
    ) -> bytes:
        """The declarations' bytes, encoded again only when they differ."""
        known, wire = self._tools
        if known is not tools and known != tools:
            wire = encode(tools)
            self._tools = (tools, wire)
        return wire

    def _keep(self, messages: Sequence[Message]) -> int:
        """Drop the units that this history does not begin with; how many messages are left."""
        known = self._messages
        same = len(known)
        if same > len(messages) or not all(map(is_, known, messages)):
            pairs = zip(known, messages, strict=False)
            same = next((i for i, (old, new) in enumerate(pairs) if old is not new), min(same, len(messages)))
        kept = len(known)
        units = len(self._units)
        while units and (kept > same or self._goes_on(kept, messages)):
            units -= 1
            kept -= len(self._units[units].messages)
        if units < len(self._units):
            del self._units[units:]
            del self._messages[kept:]
            self._ids = WireIds(self._rules.id_shape)
            for message in self._messages:
                self._learn(message)
        return kept

    def _goes_on(self, kept: int, messages: Sequence[Message]) -> bool:
        """True when the message after the kept ones belongs into their last unit."""
        return kept < len(messages) and self._rules.joins(messages[kept - 1], messages[kept])

    def _learn(self, message: Message) -> None:
        """Take the ids again that the units kept were written with."""
        if isinstance(message, AssistantMessage):
            for block in message.content:
                if isinstance(block, ToolCall):
                    self._ids.call(block.id)

    def _add(self, messages: list[Message]) -> None:
        self._units.append(Unit(tuple(messages), self._rules.encode(messages, self._ids)))
        self._messages += messages


def join_body(opening: bytes, messages: list[bytes], field: bytes = b"messages") -> bytes:
    """A request out of an object that is still open and the messages in its last field, in one copy."""
    opening += b',"' + field + b'":['
    if not messages:
        return opening + b"]}"
    messages[0] = opening + messages[0]
    messages[-1] += b"]}"
    return b",".join(messages)


class Histories:
    """The encoded histories of a provider's sessions."""

    def __init__(self, max_sessions: int = MAX_SESSIONS) -> None:
        self._max_sessions = max_sessions
        self._by_session: OrderedDict[tuple[str, ...], EncodedHistory] = OrderedDict()

    def of(self, key: tuple[str, ...], rules: UnitRules) -> EncodedHistory:
        """The history under a key that names everything its bytes depend on; a new one if there is none.

        A session without a name (an empty first part) is never kept.
        """
        if not key[0]:
            return EncodedHistory(rules)
        history = self._by_session.get(key)
        if history is None:
            history = self._by_session[key] = EncodedHistory(rules)
            if len(self._by_session) > self._max_sessions:
                self._by_session.popitem(last=False)
        self._by_session.move_to_end(key)
        return history
