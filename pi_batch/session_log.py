"""What the engine writes while a task runs: the Protocol of a session's file.

Implemented by `sinks.session_log` and, for tests, by `sinks.fake`; `protocols` names it beside the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pi_batch.messages import Message, SystemMessage, Usage


class SessionLog(Protocol):
    """The authority on messages: pi's session format v3, one file per task."""

    session_id: str

    def append_message(self, message: Message) -> str:
        """Write a whole message and flush; returns its entry id. Raises: LogWriteError."""
        ...

    def append_custom(self, custom_type: str, value: Mapping[str, Any]) -> str:
        """Write a `custom` entry; returns its id. Raises: LogWriteError."""
        ...

    def append_model_change(self, provider: str, model: str) -> str:
        """Write a `model_change` entry; returns its id. Raises: LogWriteError."""
        ...

    def append_thinking_level_change(self, level: str) -> str:
        """Write a `thinking_level_change` entry; returns its id. Raises: LogWriteError."""
        ...

    def append_session_info(self, name: str) -> str:
        """Write a `session_info` entry, the session's name; returns its id. Raises: LogWriteError."""
        ...

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
        """Write a `compaction` entry and flush; returns its id. Raises: LogWriteError.

        `first_kept_entry_id`: where the history goes on after the summary; None: nothing before is kept.
        `system`: the prompt and tools in force. `usage`: what the summary took, in no `usage` entry again.
        """
        ...

    def append_usage(self, kind: str, provider: str, model: str, usage: Usage, cost_usd: float | None) -> str:
        """Write a `usage` entry: tokens spent on no message; returns its id. Raises: LogWriteError."""
        ...

    def close(self) -> None:
        """Flush and release the lock."""
        ...
