"""The log of a trial that is carried out elsewhere, read while it grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pi_batch.event_log import decode_record
from pi_batch.events import Record, Warned

Seen = Counter[tuple[str, str]]
"""How many records of a time and a type are known already."""


class TrialLog:
    """Gives each record of the trial once; what a run's own log has already is passed over.

    Records are taken in order, so those that are known are the first ones.
    """

    def __init__(self, path: Path, seen: Seen | None = None) -> None:
        self._path = path
        self._seen = Counter(seen or {})
        self._offset = 0
        self.count = 0
        """Records of the trial itself that were read so far, known ones too."""

    def new(self) -> Iterator[Record]:
        """What came since the last call, warnings of the trial's run too. Raises: ValueError.

        A line that is not whole yet comes later.
        """
        for line in self._lines():
            if line.startswith('{"type":"log"'):
                continue
            record = decode_record(line)
            if record.key is None:
                if isinstance(record.event, Warned):
                    yield record
                continue
            self.count += 1
            known = (record.at, record.event.type)
            if self._seen[known] > 0:
                self._seen[known] -= 1
            else:
                yield record

    def _lines(self) -> list[str]:
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except OSError:  # not made yet, or not seen yet on this machine
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [line for line in whole.decode("utf-8", "replace").split("\n") if line]
