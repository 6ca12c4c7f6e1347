"""Server-sent events out of bytes, whatever way the network cut them.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream, with two
departures that real services ask for: a last event without its blank line counts (see `flush`), and the
fields `id` and `retry` are skipped, since a generation cannot be taken up again.

Lines are split as bytes and decoded whole by whoever reads them: a character cut in two by a chunk is
never seen.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_EVENT_BYTES = 32 * 1024 * 1024
"""A line or event beyond this is no event of a model service."""
BOM = b"\xef\xbb\xbf"


class SseEvent(NamedTuple):
    """One event: a tuple, since thousands come per reply."""

    data: bytes
    """The `data` lines, joined by LF."""
    name: str = ""
    """The `event` field; empty where the stream names none."""


class EventTooLong(Exception):
    """A line or an event that is longer than MAX_EVENT_BYTES."""


class SseDecoder:
    """Takes chunks of bytes, gives events; keeps what is not whole yet."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._pieces: list[bytes] = []
        """Chunks of the line that has no end yet: joined once, however many they are."""
        self._pieces_bytes = 0
        self._skips_lf = False
        """True after a chunk that ended in CR: the LF of that line end may still come."""
        self._is_first_line = True
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name = ""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that this chunk completes. Raises: EventTooLong."""
        if end := self._end_of_one_event(chunk):
            return [SseEvent(chunk[6:end])]
        if self._skips_lf and chunk:
            self._skips_lf = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            self._skips_lf = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._keep(chunk)
            return []
        if self._pieces:
            self._pieces.append(chunk)
            chunk = b"".join(self._pieces)
            self._pieces, self._pieces_bytes = [], 0
        lines = chunk.split(b"\n")
        self._keep(lines.pop())
        return self._events(lines)

    def flush(self) -> list[SseEvent]:
        """At the end of the stream: an event that lacks its blank line, or its last line end.

        Such an event may be cut off: its data has to make sense by itself, or it was none.
        """
        rest = b"".join(self._pieces)
        self._pieces, self._pieces_bytes = [], 0
        return self._events([rest, b""])

    def _end_of_one_event(self, chunk: bytes) -> int:
        """Where the data ends of a chunk that is one `data: …` line and its blank line, as most chunks are.

        0 for any other.
        """
        if not chunk.startswith(b"data: ") or not chunk.endswith(b"\n"):
            return 0
        is_crlf = chunk.endswith(b"\r\n\r\n")
        end = len(chunk) - (4 if is_crlf else 2)
        if chunk.find(b"\n") != end + is_crlf or chunk.find(b"\r") != (end if is_crlf else -1):
            return 0
        is_amid = self._is_first_line or self._pieces or self._data or self._name or self._skips_lf
        return 0 if is_amid else end

    def _keep(self, rest: bytes) -> None:
        if rest:
            self._pieces.append(rest)
            self._pieces_bytes += len(rest)
            if self._pieces_bytes + self._data_bytes > self._max_event_bytes:
                raise EventTooLong

    def _events(self, lines: list[bytes]) -> list[SseEvent]:
        """Read whole lines, without their ends."""
        events = []
        data = self._data
        for line in lines:
            if self._is_first_line:
                self._is_first_line = False
                line = line.removeprefix(BOM)  # noqa: PLW2901 - the stream's first bytes only
            if line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line:
                self._field(line)
                continue
            else:
                if data:
                    events.append(SseEvent(data[0] if len(data) == 1 else b"\n".join(data), self._name))
                    data = self._data = []
                    self._data_bytes = 0
                self._name = ""
                continue
            self._data_bytes += len(line)
            if self._data_bytes > self._max_event_bytes:
                raise EventTooLong
        return events

    def _field(self, line: bytes) -> None:
        """A line that is neither data with a colon nor blank: comments and unknown fields are skipped."""
        name, _, value = line.partition(b":")
        if name == b"event":
            self._name = value.removeprefix(b" ").decode("utf-8", "replace")
        elif name == b"data":
            self._data.append(b"")
