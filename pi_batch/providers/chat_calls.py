"""Tool calls out of the deltas of Chat Completions, as services really stream them.

OpenAI gives each call an index, its id and name once, then pieces of its arguments. Others repeat id and
name in each delta, leave out index or id, or put parallel calls at one index (hermes-agent#3468,
llama.cpp#11992, pi#4854); none of that may run two calls together or lose one.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct, field

from pi_batch.messages import ToolCall
from pi_batch.providers.pieces import Pieces
from pi_batch.providers.tool_ids import unique_ids
from pi_batch.providers.wire_json import dumps, parse_arguments


class _Slot(Struct):
    """One call as it grows."""

    id: str
    name: str
    arguments: Pieces = field(default_factory=Pieces)

    def is_complete(self) -> bool:
        """True when its arguments are a whole object: what follows belongs to another call."""
        text = self.arguments.text()
        return bool(text.strip()) and parse_arguments(text) is not None


class CallSlots:
    """The calls of one reply."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}

    def add(self, delta: Mapping[str, Any]) -> str:
        """Take one item of `tool_calls`; the piece of arguments in it."""
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        call_id, name = _text(delta.get("id")), _text(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = dumps(arguments).decode()
        piece = arguments if isinstance(arguments, str) else ""
        index = delta.get("index")
        slot = self._slot(index if isinstance(index, int) else None, call_id, name, piece)
        slot.id = slot.id or call_id
        slot.name = slot.name or name
        return slot.arguments.add(piece) if piece else ""

    def calls(self, taken: AbstractSet[str]) -> list[ToolCall]:
        """The calls, each with an id that is in none of `taken`; ghosts without name and arguments go."""
        slots = [slot for slot in self._slots if slot.name or slot.arguments.text().strip()]
        calls = []
        for slot, call_id in zip(slots, unique_ids((slot.id for slot in slots), taken), strict=True):
            text = slot.arguments.text()
            arguments = parse_arguments(text)
            calls.append(ToolCall(call_id, slot.name, arguments, "" if arguments is not None else text))
        return calls

    def _slot(self, index: int | None, call_id: str, name: str, piece: str) -> _Slot:
        """The call that a delta belongs to; a new one where it belongs to none."""
        latest = self._slots[-1] if self._slots else None
        slot = latest if index is None else self._by_index.get(index)
        if slot is not None and _is_another(slot, call_id, name, piece):
            slot = next((known for known in self._slots if call_id and known.id == call_id), None)
        if slot is None:
            slot = _Slot(call_id, name)
            self._slots.append(slot)
        if index is not None:
            self._by_index[index] = slot
        return slot


def _is_another(slot: _Slot, call_id: str, name: str, piece: str) -> bool:
    """True when a delta where `slot` is expected begins, or goes on with, another call."""
    if call_id and slot.id:
        return call_id != slot.id
    if name and slot.name and name != slot.name:
        return True
    return bool(name) and name == slot.name and piece.lstrip().startswith("{") and slot.is_complete()


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""
