"""events.jsonl: records as JSON Lines, and back.

A record is one flat object: `type`, `seq`, `at` and `key`, then the event's own fields; messages in pi's
JSON. The live form holds everything; the log form leaves out what the session file has (messages, arguments
of outer calls). Fields unknown here are ignored, events of unknown types come back as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pi_batch import __version__
from pi_batch.errors import UsageError
from pi_batch.events import (
    LOG_VERSION,
    Event,
    MessageEnd,
    MessageUpdate,
    Record,
    ToolExecutionStart,
    ToolExecutionUpdate,
    UnknownEvent,
)
from pi_batch.jsonl import decode_line, encode_line
from pi_batch.struct_json import defaults, from_json, to_json

ENVELOPE = ("type", "seq", "at", "key")


def header_line() -> str:
    """The first line of an event log, without the LF."""
    return encode_line({"type": "log", "version": LOG_VERSION, "pi_batch_version": __version__})


def is_live_only(event: Event) -> bool:
    """True for events that no log keeps."""
    return isinstance(event, MessageUpdate | ToolExecutionUpdate)


def record_to_json(record: Record, *, live: bool) -> dict[str, Any]:
    """A record as a JSON object: `live` with messages and arguments, else as the log keeps it."""
    event = record.event
    envelope = {"type": event.type, "seq": record.seq, "at": record.at, "key": record.key}
    value: dict[str, Any] = dict(event.fields) if isinstance(event, UnknownEvent) else to_json(event)
    if isinstance(event, MessageEnd) and (not live or event.message is None):
        del value["message"]
    if isinstance(event, ToolExecutionStart) and not live and event.parent_tool_call_id is None:
        del value["arguments"]
    return {**envelope, **value}


def encode_record(record: Record, *, live: bool) -> str:
    """One JSON line, without the LF."""
    return encode_line(record_to_json(record, live=live))


def decode_record(line: str) -> Record:
    """The record on a line. Raises: ValueError with the field that is missing or of another type."""
    return _record_on(line.encode("utf-8", "surrogatepass"))


def read_log(path: Path) -> Iterator[Record]:
    """The records of an event log, in order; a torn last line is dropped, an empty file holds none.

    Raises: UsageError, one line with the line's number, when it is no event log or is damaged inside.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    if number == 1:
                        _check_header(line)
                    elif line.strip():
                        yield _record_on(line)
                except ValueError as error:
                    raise UsageError(f"{path}:{number}: damaged event log: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


def _check_header(line: bytes) -> None:
    header = decode_line(line) or {}
    kind, version = header.get("type"), header.get("version")
    if kind != "log" or version != LOG_VERSION:
        raise ValueError(f"got a header of type {kind!r}, version {version!r}, need 'log', {LOG_VERSION}")


def _record_on(line: bytes) -> Record:
    value = decode_line(line)
    if value is None:
        raise ValueError("no whole JSON object on the line")
    kind, seq, at, key = (value.get(name) for name in ENVELOPE)
    is_counted = seq is None or (isinstance(seq, int) and not isinstance(seq, bool))
    if not (isinstance(kind, str) and is_counted and isinstance(at, str) and isinstance(key, str | None)):
        raise ValueError(f"needs type, seq, at and key; got {kind!r}, {seq!r}, {at!r}, {key!r}")
    rest = {name: item for name, item in value.items() if name not in ENVELOPE}
    event_type = _event_types().get(kind)
    event = UnknownEvent(kind, rest) if event_type is None else from_json(event_type, rest, kind)
    return Record(seq, at, key, event)


@cache
def _event_types() -> Mapping[str, Any]:
    known = (kind for kind in get_args(Event) if kind is not UnknownEvent)
    return {defaults(kind)["type"]: kind for kind in known}
