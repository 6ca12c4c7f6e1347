"""The calls that a script made, as a session keeps them with the script's result.

Bounded: a script may make thousands of calls, and the record goes into one line of a file.
Source: `NestedToolCalls` in docs/message-types.md of @earendil-works/pi-coding-agent 1.6.0, whose limits
these are. `startMs` is ours: a page shows with it what ran at the same time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

MAX_CALLS = 256
MAX_ARGUMENTS_BYTES = 8 * 1024
"""Of one call; larger arguments are left out and their size is said."""
MAX_ALL_ARGUMENTS_BYTES = 32 * 1024
MAX_ERROR_CHARS = 500


class CallRecord(Struct, frozen=True):
    """One call; `unfinished` where the script ended before it did."""

    id: str
    name: str
    started_s: float
    arguments: Mapping[str, Any] | None
    arguments_bytes: int
    status: Literal["ok", "error", "unfinished"] = "unfinished"
    duration_s: float | None = None
    error: str = ""


class CallRecords:
    """Collects the calls of one script; places count from 0."""

    def __init__(self, call_id: str, now: Callable[[], float]) -> None:
        """`call_id`: of the script's own call. `now`: seconds on a clock that never goes back."""
        self._call_id = call_id
        self._now = now
        self._began_s = now()
        self._records: list[CallRecord] = []
        self._arguments_bytes = 0
        self.count = 0
        """How many calls were started, recorded or not."""

    def start(self, name: str, arguments: Mapping[str, Any]) -> int:
        """Record the start of a call; its place."""
        place = self.count
        self.count += 1
        if place < MAX_CALLS:
            size = len(json.dumps(arguments, ensure_ascii=False, default=str).encode("utf-8", "replace"))
            fits = size <= MAX_ARGUMENTS_BYTES and self._arguments_bytes + size <= MAX_ALL_ARGUMENTS_BYTES
            self._arguments_bytes += size if fits else 0
            kept = dict(arguments) if fits else None
            self._records.append(
                CallRecord(f"{self._call_id}.{place + 1}", name, self._now() - self._began_s, kept, size)
            )
        return place

    def end(self, place: int, error: str | None) -> None:
        """Record how a call ended: with an error's text, or None where it succeeded."""
        if place >= len(self._records):
            return
        record = self._records[place]
        self._records[place] = replace(
            record,
            status="ok" if error is None else "error",
            duration_s=self._now() - self._began_s - record.started_s,
            error=(error or "")[:MAX_ERROR_CHARS],
        )

    def to_json(self) -> dict[str, Any]:
        """Pi's `nestedCalls`; `complete` is false where something was left out or has not ended."""
        is_whole = self.count == len(self._records) and all(
            record.arguments is not None and record.status != "unfinished" for record in self._records
        )
        return {"calls": [_json(record) for record in self._records], "complete": is_whole}


def _json(record: CallRecord) -> dict[str, Any]:
    value: dict[str, Any] = {"id": record.id, "name": record.name}
    if record.arguments is None:
        value["argumentsBytes"] = record.arguments_bytes
    else:
        value["arguments"] = record.arguments
    value |= {"status": record.status, "startMs": round(record.started_s * 1000)}
    if record.duration_s is not None:
        value["durationMs"] = round(record.duration_s * 1000)
    return value | ({"error": record.error} if record.error else {})
