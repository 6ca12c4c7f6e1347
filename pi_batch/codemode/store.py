"""What a task's scripts keep for later scripts: JSON values, recorded with the result of the script.

They stand in the details of the tool result, so that a result and what it kept are on disk together or not
at all, and the branch of a session that is alive has the store that belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pi_batch.messages import Message, ToolResultMessage

STORE_KEY = "store"
"""Its place in the details of a result."""


class ScriptStore:
    """One task's."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = dict(values or {})

    @property
    def values(self) -> Mapping[str, Any]:
        """All kept values."""
        return self._values

    def keep(self, values: Mapping[str, Any]) -> None:
        """Take what a script that completed left."""
        self._values = dict(values)


def stored_in(messages: Iterable[Message], tool: str = "codemode") -> Mapping[str, Any]:
    """The store as a conversation left it: of the last result that says; empty when none does."""
    values: Mapping[str, Any] = {}
    for message in messages:
        if isinstance(message, ToolResultMessage) and message.tool_name == tool:
            kept = message.details.get(STORE_KEY)
            values = kept if isinstance(kept, Mapping) else values
    return values
