"""Where the stream of events goes: the table from sink name to class, imported when first used.

`session_log` is no sink of events: it is the authority on messages, kept here because it writes beside them.
"""

from __future__ import annotations

import importlib
from typing import Any

from pi_batch.errors import UsageError

TABLE = {
    "event_log": "pi_batch.sinks.event_log:EventLog",
    "stream": "pi_batch.sinks.stream:EventStream",
    "progress": "pi_batch.sinks.progress:Progress",
    "fake": "pi_batch.sinks.fake:Collected",
}
"""Sink name -> "module:Class"."""


def load(name: str) -> type[Any]:
    """The class of a sink. Raises: UsageError for a name that has none."""
    if name not in TABLE:
        raise UsageError(f"sink {name!r}: unknown; known are {', '.join(sorted(TABLE))}")
    module, _, attribute = TABLE[name].partition(":")
    loaded: type[Any] = getattr(importlib.import_module(module), attribute)
    return loaded
