"""session.jsonl while it grows: every whole message on disk before the next request."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pi_batch.errors import LogWriteError, UsageError
from pi_batch.jsonl import decode_line, encode_line
from pi_batch.messages import AssistantMessage, Message, SystemMessage, Usage
from pi_batch.protocols import Clock
from pi_batch.redact import Masker
from pi_batch.session import (
    SESSION_VERSION,
    Entry,
    Header,
    SessionFile,
    branch_summary_fields,
    compaction_fields,
    custom_fields,
    label_fields,
    message_fields,
    model_change_fields,
    parse_session,
    session_info_fields,
    thinking_level_fields,
    usage_fields,
)
from pi_batch.session.to_json import entry_to_json, header_to_json
from pi_batch.sinks.line_file import LineFile, remove_quietly
from pi_batch.times import iso_utc

HEAD = b'{"type":"session"'


class SessionWriter:
    """A session file held by one process; implements `protocols.SessionLog`.

    A new file gets its header with the first entry. An existing one is continued from its last entry; a
    torn last line is set aside in `<file>.torn` before anything is appended, and `warnings` says so. The
    file is locked (flock) for the writer's life: a second one is refused at once and told who holds it.

    Messages are synced to disk; other entries only leave the process. An append takes about 20 µs without
    the sync.
    """

    def __init__(
        self,
        path: Path,
        *,
        cwd: str,
        clock: Clock,
        rng: random.Random | None = None,
        mask: Masker | None = None,
        is_synced: bool = True,
        parent_session: str | None = None,
    ) -> None:
        """Lock the file and read what is there; a new one may name the session it is forked from.

        Raises: LogWriteError.
        """
        self._clock = clock
        self._rng = rng or random.Random()  # noqa: S311 -- ids, not secrets
        self._mask = None if mask is None or mask.is_empty else mask
        self._is_synced = is_synced
        self._is_behind = False
        """True while messages are written and not yet synced."""
        self._ids: set[str] = set()
        self._last_id: str | None = None
        self._file = LineFile(path)
        self._note = path.with_name(path.name + ".lock")
        self.warnings: tuple[str, ...] = ()
        """What was found on opening: a torn line set aside, broken ones skipped."""
        try:
            self._lock()
        except LogWriteError:
            self._file.close()
            raise
        try:
            found = self._open_existing()
        except LogWriteError:
            self.close()
            raise
        self.session_id = (
            found.header.id if found else str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
        )
        self.entries: tuple[Entry, ...] = found.entries if found else ()
        """What was in the file before this writer came."""
        parent = {"parentSession": parent_session} if parent_session else {}
        header = Header(self.session_id, iso_utc(clock.time()), cwd, fields=parent)
        self._header = None if found else header

    def append_message(self, message: Message) -> str:
        """Write a whole message; returns its entry id. Raises: LogWriteError.

        A reply is synced, as its calls come next; others with the start of the request that follows, so that
        the results of twenty calls cost one wait for the disk.
        """
        if message.timestamp_ms == 0:
            message = replace(message, timestamp_ms=int(self._clock.time() * 1000))
        is_reply = isinstance(message, AssistantMessage)
        entry_id = self._append("message", message_fields(message), is_synced=self._is_synced and is_reply)
        self._is_behind = self._is_synced and not is_reply
        return entry_id

    def append_custom(self, custom_type: str, value: Mapping[str, Any]) -> str:
        """Write a `custom` entry, a request's start for one; returns its id. Raises: LogWriteError."""
        entry_id = self._append("custom", custom_fields(custom_type, value), is_synced=self._is_behind)
        self._is_behind = False
        return entry_id

    def append_model_change(self, provider: str, model: str) -> str:
        """Write a `model_change` entry; returns its id. Raises: LogWriteError."""
        return self._append("model_change", model_change_fields(provider, model))

    def append_thinking_level_change(self, level: str) -> str:
        """Write a `thinking_level_change` entry; returns its id. Raises: LogWriteError."""
        return self._append("thinking_level_change", thinking_level_fields(level))

    def append_session_info(self, name: str) -> str:
        """Write a `session_info` entry: the session's name; returns its id. Raises: LogWriteError."""
        return self._append("session_info", session_info_fields(name))

    def append_label(self, target_id: str, label: str | None) -> str:
        """Write a `label` entry: a mark on another one; returns its id. Raises: LogWriteError."""
        return self._append("label", label_fields(target_id, label))

    def append_compaction(
        self,
        summary: str,
        first_kept_entry_id: str | None,
        tokens_before: int,
        details: Mapping[str, Any] | None = None,
        *,
        system: SystemMessage | None = None,
        usage: Usage | None = None,
        cost_usd: float | None = None,
    ) -> str:
        """Write a `compaction` entry; returns its id. None as the first kept entry: nothing is kept.

        Raises: LogWriteError.
        """
        entry_id = self._new_id()
        fields = compaction_fields(
            summary,
            first_kept_entry_id or entry_id,
            tokens_before,
            system=system,
            usage=usage,
            cost_usd=cost_usd,
            details=details,
        )
        return self._append("compaction", fields, is_synced=self._is_synced, entry_id=entry_id)

    def append_branch_summary(
        self, from_id: str, summary: str, *, usage: Usage | None = None, cost_usd: float | None = None
    ) -> str:
        """Write a `branch_summary` entry; returns its id. Raises: LogWriteError."""
        fields = branch_summary_fields(summary, from_id, usage=usage, cost_usd=cost_usd)
        return self._append("branch_summary", fields, is_synced=self._is_synced)

    def append_copies(self, entries: Iterable[Entry]) -> None:
        """Write entries of another session as they are, ids and all. Raises: LogWriteError."""
        for entry in entries:
            self._append(entry.type, dict(entry.fields), entry_id=entry.id, timestamp=entry.timestamp)
        if self._is_synced:
            self._file.sync()

    def branch_from(self, entry_id: str | None) -> None:
        """Have the next entry hang on this one; None: it is a root of its own.

        Raises: ValueError for an id that is not in the file.
        """
        if entry_id is not None and entry_id not in self._ids:
            raise ValueError(f"{self._file.path}: no entry {entry_id!r} to go on from")
        self._last_id = entry_id

    def append_usage(self, kind: str, provider: str, model: str, usage: Usage, cost_usd: float | None) -> str:
        """Write a `usage` entry: tokens spent on no message; returns its id. Raises: LogWriteError."""
        return self._append("usage", usage_fields(kind, provider, model, usage, cost_usd))

    def close(self) -> None:
        """Sync, and release the lock; a second call does nothing. Raises: LogWriteError."""
        if self._file.handle < 0:
            return
        try:
            if self._is_synced:
                self._file.sync()
        finally:
            if self._file.is_regular:
                remove_quietly(self._note)
            self._file.close()

    def _append(
        self,
        kind: str,
        fields: dict[str, Any],
        *,
        is_synced: bool = False,
        entry_id: str | None = None,
        timestamp: str | None = None,
    ) -> str:
        if self._file.handle < 0:
            raise LogWriteError(f"{self._file.path}: cannot be written: the session is closed")
        if self._header is not None:
            self._write(header_to_json(self._header), is_synced=False)
            self._header = None
        timestamp = timestamp or iso_utc(self._clock.time())
        entry = Entry(entry_id or self._new_id(), self._last_id, kind, timestamp, fields)
        self._write(entry_to_json(entry), is_synced=is_synced)
        self._ids.add(entry.id)
        self._last_id = entry.id
        return entry.id

    def _write(self, value: dict[str, Any], *, is_synced: bool) -> None:
        if self._mask is not None:
            value = self._mask.mask_json(value)
        self._file.append(encode_line(value), is_synced=is_synced)

    def _new_id(self) -> str:
        """Eight hexadecimal digits, unique within the file."""
        while True:
            entry_id = f"{self._rng.getrandbits(32):08x}"
            if entry_id not in self._ids:
                return entry_id

    def _lock(self) -> None:
        """Hold the file for this process and leave a note who does. Raises: LogWriteError."""
        if not self._file.is_regular:
            return
        try:
            fcntl.flock(self._file.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LogWriteError(
                f"{self._file.path}: session is in use, locked by {_holder(self._note)}; wait for it to end"
            ) from error
        except OSError as error:
            if error.errno not in {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}:
                raise LogWriteError(f"{self._file.path}: cannot be locked: {error.strerror}") from error
            self.warnings += (f"{self._file.path}: this file system has no locks; keep to one run at a time",)
        try:
            self._note.write_text(f"{os.getpid()}\n", encoding="ascii")
        except OSError:
            remove_quietly(self._note)  # a note is a courtesy; the lock holds without it

    def _open_existing(self) -> SessionFile | None:
        """What the file holds, its end made whole; None for a new one. Raises: LogWriteError."""
        content = self._file.read()
        if not content.strip():
            return None
        if _is_torn_header(content):
            self._set_aside(content, 0)
            return None
        try:
            session = parse_session(content, str(self._file.path))
        except UsageError as error:
            raise LogWriteError(f"{error}; it is left as it is") from error
        if session.header.version != SESSION_VERSION:
            raise LogWriteError(
                f"{session.path}: session version {session.header.version}, need {SESSION_VERSION}"
                " to continue it; pi brings it up to date when it opens it"
            )
        self.warnings += session.warnings
        if session.torn is not None:
            self._set_aside(session.torn, session.whole_bytes)
        elif not session.ends_with_newline:
            self._file.end_last_line()
        self._ids.update(entry.id for entry in session.entries)
        self._last_id = session.entries[-1].id if session.entries else None
        return session

    def _set_aside(self, tail: bytes, whole_bytes: int) -> None:
        beside = self._file.set_aside(tail, whole_bytes)
        self.warnings += (
            f"{self._file.path}: torn last line ({len(tail)} bytes) set aside in {beside.name}",
        )


def _is_torn_header(content: bytes) -> bool:
    """True when all there is is the beginning of a header."""
    head = HEAD[: len(content)]
    return b"\n" not in content and content.startswith(head) and decode_line(content) is None


def _holder(note: Path) -> str:
    try:
        return f"process {int(note.read_text(encoding='ascii'))}"
    except (OSError, ValueError):
        return "another process"
