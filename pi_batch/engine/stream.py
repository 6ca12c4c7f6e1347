"""The one outlet: numbers and dates each event, folds it, and hands it to every sink."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pi_batch.errors import LogWriteError, PiBatchError
from pi_batch.events import Event, MessageUpdate, Record, ToolExecutionUpdate
from pi_batch.fold import Fold
from pi_batch.protocols import Clock, Sink
from pi_batch.times import iso_utc

LIVE_ONLY = (MessageUpdate, ToolExecutionUpdate)


class Stream:
    """Everything that happens in a run passes here, once, in order."""

    def __init__(
        self, sinks: Sequence[Sink], clock: Clock, on_failure: Callable[[], None], fold: Fold | None = None
    ) -> None:
        """`fold` holds what earlier legs of the run came to."""
        self.fold = fold or Fold()
        self.failure: PiBatchError | None = None
        """The first log that could not be written, or another end of everything: the run ends, loudly."""
        self._sinks = list(sinks)
        self._live_sinks = [sink for sink in sinks if sink.takes_live_only]
        self._clock = clock
        self._on_failure = on_failure
        self._seq = self.fold.last_seq

    def emit(self, key: str | None, event: Event) -> None:
        """Send one event; a sink that cannot write is dropped and ends the run."""
        if isinstance(event, LIVE_ONLY):
            if self._live_sinks:
                self._hand_out(self._live_sinks, Record(None, self._now(), key, event))
            return
        self._pass_on(self._now(), key, event)

    def join(self, record: Record) -> None:
        """Take in a record that was written elsewhere: with its own time, and a number of this stream."""
        self._pass_on(record.at, record.key, record.event)

    def _pass_on(self, at: str, key: str | None, event: Event) -> None:
        self._seq += 1
        record = Record(self._seq, at, key, event)
        self.fold.feed(record)
        self._hand_out(self._sinks, record)

    def _now(self) -> str:
        return iso_utc(self._clock.time())

    def _hand_out(self, sinks: Sequence[Sink], record: Record) -> None:
        for sink in tuple(sinks):
            try:
                sink.handle(record)
            except LogWriteError as error:
                self._drop(sink)
                if self.failure is None:
                    self.failure = error
                    self._on_failure()

    def _drop(self, failed: Sink) -> None:
        self._sinks = [sink for sink in self._sinks if sink is not failed]
        self._live_sinks = [sink for sink in self._live_sinks if sink is not failed]

    def close(self) -> None:
        """Flush and release every sink."""
        for sink in self._sinks:
            try:
                sink.close()
            except LogWriteError as error:
                self.failure = self.failure or error
