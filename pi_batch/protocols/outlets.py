"""Where the stream and the results go, and the clock that dates them."""

from __future__ import annotations

from typing import Protocol

from pi_batch.events import Record
from pi_batch.results import BatchResult


class Clock(Protocol):
    """Time, injected so that tests own it."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def time(self) -> float:
        """Seconds since the epoch."""
        ...


class Sink(Protocol):
    """Somewhere the stream goes: a log, a terminal, standard output."""

    takes_live_only: bool
    """False where live-only events, thousands a reply, are of no use: then they need not come."""

    def handle(self, record: Record) -> None:
        """Take one record; never alters it. Raises: LogWriteError."""
        ...

    def close(self) -> None:
        """Flush and release."""
        ...


class Report(Protocol):
    """A rendering of a BatchResult."""

    name: str

    def render(self, batch: BatchResult) -> str:
        """The whole document, ending in one newline."""
        ...
