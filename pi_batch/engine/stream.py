"""The one outlet: numbers and dates each event, folds it, and hands it to every sink."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pi_batch.errors import LogWriteError
from pi_batch.events import Event, MessageUpdate, Record, ToolExecutionUpdate
from pi_batch.fold import Fold
from pi_batch.protocols import Clock, Sink
from pi_batch.times import iso_utc

LIVE_ONLY = (MessageUpdate, ToolExecutionUpdate)


class Stream:
    """Everything that happens in a run passes here, once, in order."""

    def __init__(self, sinks: Sequence[Sink], clock: Clock, on_failure: Callable[[], None]) -> None:
        self.fold = Fold()
        self.failure: LogWriteError | None = None
        """The first log that could not be written: the run has to end, and loudly."""
        self._sinks = list(sinks)
        self._clock = clock
        self._on_failure = on_failure
        self._seq = 0

    def emit(self, key: str | None, event: Event) -> None:
        """Send one event; a sink that cannot write is dropped and ends the run."""
        is_live_only = isinstance(event, LIVE_ONLY)
        if not is_live_only:
            self._seq += 1
        record = Record(None if is_live_only else self._seq, iso_utc(self._clock.time()), key, event)
        self.fold.feed(record)
        for sink in tuple(self._sinks):
            try:
                sink.handle(record)
            except LogWriteError as error:
                self._sinks.remove(sink)
                if self.failure is None:
                    self.failure = error
                    self._on_failure()

    def close(self) -> None:
        """Flush and release every sink."""
        for sink in self._sinks:
            try:
                sink.close()
            except LogWriteError as error:
                self.failure = self.failure or error
