"""Replies kept on disk, so that the same request need not be made twice (`--cache`).

One file a reply, named by its request's digest: written whole or not at all, with a digest of its own, under
a lock that dies with its holder. Whatever cannot be read, or is not what it says it is, is a reply that is
not there. Requests are not kept, and no reply that holds a secret value.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pi_batch.errors import LogWriteError
from pi_batch.files import write_atomic
from pi_batch.jsonl import decode_line, encode_line
from pi_batch.messages import AssistantMessage
from pi_batch.session import message_from_json, message_to_json

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
"""Of one file: a larger one is none of ours."""


class KeptReplies:
    """A directory of replies; several processes may share it."""

    def __init__(self, directory: Path, mask: Callable[[Any], Any] = lambda value: value) -> None:
        """`mask` hides secret values in a JSON value: a reply that it changes is not kept."""
        self.directory = directory
        self._mask = mask

    def find(self, key: str) -> AssistantMessage | None:
        """The reply to a request; None where there is none, or none that is whole."""
        try:
            path = self._path(key)
            if path.stat().st_size > MAX_BYTES:
                return None
            kept = decode_line(path.read_bytes())
        except OSError:
            return None
        if kept is None or kept.get("version") != VERSION or kept.get("key") != key:
            return None
        text = kept.get("reply")
        if not isinstance(text, str) or _digest(text) != kept.get("sha256"):
            return None
        message = message_from_json(decode_line(text.encode("utf-8", "replace")))
        return message if isinstance(message, AssistantMessage) and is_worth_keeping(message) else None

    def keep(self, key: str, reply: AssistantMessage, model: str) -> bool:
        """Keep a reply; False where it holds a secret value. Raises: LogWriteError.

        `model` is who was asked, for whoever looks into the file.
        """
        value = message_to_json(reply)
        if self._mask(value) != value:
            return False
        text = encode_line(value)
        entry = {"version": VERSION, "key": key, "model": model, "sha256": _digest(text), "reply": text}
        path = self._path(key)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(path.parent / ".lock"):
                for torn in path.parent.glob(".*.json.*"):  # of a process that was killed while it wrote
                    torn.unlink(missing_ok=True)
                write_atomic(path, f"{encode_line(entry)}\n".encode())
        except OSError as error:
            raise LogWriteError(f"{path}: cannot be written: {error.strerror or error}") from error
        return True

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}.json"


def is_worth_keeping(reply: AssistantMessage) -> bool:
    """True for a reply that came to its end and says something."""
    return reply.stop_reason in ("stop", "tool_use") and bool(reply.tool_calls or reply.text.strip())


def request_key(request: Mapping[str, Any]) -> str:
    """The digest of everything that a reply depends on, given as JSON."""
    return _digest(json.dumps(request, sort_keys=True, ensure_ascii=True, default=str))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock against other writers; the kernel takes it away from a process that dies."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            os.close(handle)
