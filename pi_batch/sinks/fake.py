"""Outlets that keep what they were given, for tests and for callers that want a run's records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_batch.errors import LogWriteError
from pi_batch.events import Event, Record
from pi_batch.messages import Message, SystemMessage, Usage
from pi_batch.session import compaction_fields


class Collected:
    """Every record in order, in memory."""

    takes_live_only = True

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.is_closed = False

    def handle(self, record: Record) -> None:
        """Keep one record."""
        self.records.append(record)

    def close(self) -> None:
        """Note that nothing more will come."""
        self.is_closed = True

    @property
    def events(self) -> list[Event]:
        """The events alone."""
        return [record.event for record in self.records]


class KeptSession:
    """A session in memory; implements `protocols.SessionLog`."""

    def __init__(self, session_id: str = "kept") -> None:
        self.session_id = session_id
        self.messages: list[Message] = []
        self.entries: list[tuple[str, str]] = []
        """(id, entry type) of everything, in order."""
        self.customs: list[tuple[str, Mapping[str, Any]]] = []
        self.compactions: list[Mapping[str, Any]] = []
        """The fields of each compaction entry."""
        self.spent: list[tuple[str, Usage, float | None]] = []
        """(kind, usage, cost) of each usage entry."""
        self.is_closed = False

    def append_message(self, message: Message) -> str:
        """Keep a message; returns its entry id. Raises: LogWriteError once closed."""
        entry_id = self._add("message")
        self.messages.append(message)
        return entry_id

    def append_custom(self, custom_type: str, value: Mapping[str, Any]) -> str:
        """Keep a custom entry; returns its id. Raises: LogWriteError once closed."""
        entry_id = self._add("custom")
        self.customs.append((custom_type, dict(value)))
        return entry_id

    def append_model_change(self, provider: str, model: str) -> str:
        """Keep a change of model; returns its id. Raises: LogWriteError once closed."""
        return self._add(f"model_change {provider}/{model}")

    def append_thinking_level_change(self, level: str) -> str:
        """Keep a change of thinking level; returns its id. Raises: LogWriteError once closed."""
        return self._add(f"thinking_level_change {level}")

    def append_session_info(self, name: str) -> str:
        """Keep the session's name; returns its id. Raises: LogWriteError once closed."""
        return self._add(f"session_info {name}")

    def append_compaction(
        self,
        summary: str,
        first_kept_entry_id: str | None,
        tokens_before: int,
        details: Mapping[str, Any] | None = None,
        *,
        system: SystemMessage | None = None,
        usage: Usage | None = None,
        cost_usd: float | None = None,
    ) -> str:
        """Keep a compaction; returns its id. Raises: LogWriteError once closed."""
        entry_id = self._add("compaction")
        fields = compaction_fields(
            summary,
            first_kept_entry_id or entry_id,
            tokens_before,
            system=system,
            usage=usage,
            cost_usd=cost_usd,
            details=details,
        )
        self.compactions.append(fields)
        return entry_id

    def append_usage(self, kind: str, provider: str, model: str, usage: Usage, cost_usd: float | None) -> str:
        """Keep what was spent on no message; returns its id. Raises: LogWriteError once closed."""
        self.spent.append((kind, usage, cost_usd))
        return self._add(f"usage {kind}")

    def close(self) -> None:
        """Take nothing more."""
        self.is_closed = True

    def _add(self, kind: str) -> str:
        if self.is_closed:
            raise LogWriteError("the session is closed")
        entry_id = f"{len(self.entries) + 1:08x}"
        self.entries.append((entry_id, kind))
        return entry_id
