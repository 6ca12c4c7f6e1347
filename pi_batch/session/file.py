"""A session file as values: its header and its entries; `tree` walks them.

Source: docs/session-format.md of @earendil-works/pi-coding-agent 1.6.0.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.jsonl import decode_line
from pi_batch.messages import JsonObject

SESSION_VERSION = 3
MAX_SESSION_BYTES = 512 * 1024 * 1024
"""A file larger than this is refused; whole sessions are held in memory."""
MAX_LINE_BYTES = 64 * 1024 * 1024
"""A line longer than this is skipped as broken: the largest image is far below it."""
MAX_WARNINGS = 20
MAX_STUMP_TRIES = 200
ENTRY_BEGINS = b'{"type":"'
BOM = b"\xef\xbb\xbf"
OWN_KEYS = frozenset({"type", "id", "parentId", "timestamp"})


class Header(Struct, frozen=True):
    """The first line."""

    id: str
    timestamp: str
    """ISO 8601."""
    cwd: str
    """The user's directory; empty where a file names none."""
    version: int = SESSION_VERSION
    """As it is in the file; 1 and 2 are read as 3."""
    fields: JsonObject = field(default_factory=dict)
    """Everything else, as read: parentSession, …"""


class Entry(Struct, frozen=True):
    """One line below the header: a node of the session's tree."""

    id: str
    parent_id: str | None
    type: str
    """message, model_change, custom, compaction, …; unknown types are kept."""
    timestamp: str
    fields: JsonObject = field(default_factory=dict)
    """Everything else, as read."""


class SessionFile(Struct, frozen=True):
    """A session as it lies on disk."""

    path: str
    header: Header
    entries: tuple[Entry, ...]
    torn: bytes | None = None
    """A last line that was cut while it was written; not among the entries."""
    whole_bytes: int = 0
    """Where the torn line begins: the length of the file without it."""
    ends_with_newline: bool = True
    """False when the last whole line lacks its LF."""
    warnings: tuple[str, ...] = ()
    """Lines that were left out, one short text each."""


def read_session(path: Path) -> SessionFile:
    """Read a session file of pi's or ours, version 1 to 3.

    A torn last line is set aside in `torn`. A broken line elsewhere is skipped with a warning, as pi does:
    pi itself leaves one behind when it goes on after a crash.
    Raises: UsageError, one line, when there is no session to be read at this path.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path}: not a regular file, so not a session")
        if status.st_size > MAX_SESSION_BYTES:
            raise UsageError(f"{path}: {status.st_size} bytes, need <= {MAX_SESSION_BYTES} for a session")
        return parse_session(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


def parse_session(content: bytes, path: str = "session") -> SessionFile:
    """The session in these bytes. Raises: UsageError when no header comes first."""
    start = len(BOM) if content.startswith(BOM) else 0
    lines = content[start:].split(b"\n")
    tail = lines.pop()
    torn = None
    if tail.strip():
        if _object_on(tail) is None:
            torn = tail
        else:
            lines.append(tail)
    objects, warnings = _parse_lines(lines, path)
    if not objects:
        raise UsageError(f"{path}: holds no session: no whole line in it")
    header = _header_of(objects[0], path)
    if header.version < 2:
        entries = _linear(objects[1:])
    else:
        entries, strays = _tree(objects[1:], path)
        warnings += strays
    if header.version < SESSION_VERSION:
        entries = tuple(_brought_up(entry) for entry in entries)
    return SessionFile(
        path,
        header,
        entries,
        torn=torn,
        whole_bytes=len(content) - len(torn or b""),
        ends_with_newline=torn is not None or not tail,
        warnings=tuple(warnings[:MAX_WARNINGS]),
    )


def _object_on(line: bytes) -> dict[str, Any] | None:
    return None if len(line) > MAX_LINE_BYTES else decode_line(line)


def _parse_lines(lines: Sequence[bytes], path: str) -> tuple[list[dict[str, Any]], list[str]]:
    objects: list[dict[str, Any]] = []
    warnings: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        value = _object_on(line)
        if value is None:
            value = _behind_stump(line)
            what = "stump skipped, the entry behind it kept" if value else "broken line skipped"
            warnings.append(f"{path}:{number}: {what} ({len(line)} bytes)")
        if value is not None:
            objects.append(value)
    return objects, warnings


def _behind_stump(line: bytes) -> dict[str, Any] | None:
    """The entry that a writer glued to a line torn before it; None where there is none.

    pi before 1.0 appends so after a crash; the entries that follow hang on this one.
    """
    start = 0
    for _ in range(MAX_STUMP_TRIES):
        start = line.find(ENTRY_BEGINS, start + 1)
        if start < 0:
            return None
        value = _object_on(line[start:])
        if value is not None and isinstance(value.get("id"), str) and "parentId" in value:
            return value
    return None


def _header_of(value: dict[str, Any], path: str) -> Header:
    session_id, version = value.get("id"), value.get("version", 1)
    if value.get("type") != "session" or not isinstance(session_id, str):
        raise UsageError(f"{path}: not a session: its first line is no header of type 'session' with an id")
    if not isinstance(version, int) or not 1 <= version <= SESSION_VERSION:
        raise UsageError(f"{path}: session version {version!r}, need 1 to {SESSION_VERSION}")
    rest = {key: item for key, item in value.items() if key not in {*OWN_KEYS, "version", "cwd"}}
    return Header(session_id, _text(value.get("timestamp")), _text(value.get("cwd")), version, rest)


def _tree(objects: Iterable[dict[str, Any]], path: str) -> tuple[tuple[Entry, ...], list[str]]:
    entries: list[Entry] = []
    warnings: list[str] = []
    for value in objects:
        entry_id, parent = value.get("id"), value.get("parentId")
        if not isinstance(entry_id, str):
            warnings.append(f"{path}: an entry of type {_text(value.get('type'))!r} without an id skipped")
            continue
        entries.append(_entry(value, entry_id, parent if isinstance(parent, str) else None))
    return tuple(entries), warnings


def _linear(objects: Iterable[dict[str, Any]]) -> tuple[Entry, ...]:
    """Version 1 has no ids: each entry hangs on the one before."""
    entries: list[Entry] = []
    parent: str | None = None
    for index, value in enumerate(objects, start=1):
        entry_id = f"{index:08x}"
        entries.append(_entry(value, entry_id, parent))
        parent = entry_id
    return tuple(entries)


def _brought_up(entry: Entry) -> Entry:
    """An entry as version 3 spells it: `hookMessage` is `custom` there, and a compaction names an entry.

    Version 1 counts entries with the header as 0, as `_linear` numbers them.
    """
    message, index = entry.fields.get("message"), entry.fields.get("firstKeptEntryIndex")
    if entry.type == "message" and isinstance(message, Mapping) and message.get("role") == "hookMessage":
        return replace(entry, fields={**entry.fields, "message": {**message, "role": "custom"}})
    if entry.type == "compaction" and isinstance(index, int) and index > 0:
        rest = {key: item for key, item in entry.fields.items() if key != "firstKeptEntryIndex"}
        return replace(entry, fields={"firstKeptEntryId": f"{index:08x}", **rest})
    return entry


def _entry(value: dict[str, Any], entry_id: str, parent_id: str | None) -> Entry:
    rest = {key: item for key, item in value.items() if key not in OWN_KEYS}
    return Entry(entry_id, parent_id, _text(value.get("type")), _text(value.get("timestamp")), rest)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
