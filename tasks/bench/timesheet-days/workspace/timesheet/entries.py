"""Entries of a time sheet: two moments with the offset of the clock that they were read from."""

from dataclasses import dataclass
from datetime import datetime, timezone


@dataclass(frozen=True)
class Entry:
    start: datetime
    end: datetime

    @property
    def seconds(self):
        return (self.end - self.start).total_seconds()


def parse_entry(line):
    """`START END`, each ISO 8601 with an offset. Raises: ValueError."""
    words = line.split()
    if len(words) != 2:
        raise ValueError(f"need two moments: {line!r}")
    start, end = (datetime.fromisoformat(word).astimezone(timezone.utc) for word in words)
    if end < start:
        raise ValueError(f"ends before it starts: {line!r}")
    return Entry(start, end)
