"""What host and worker say, as JSON: each kind of message has one shape here, and one check.

The worker's messages are checked type by type (`message_from`): the process that writes them may be in the
hands of a script. The host's are the host's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pi_batch.codemode.values import (
    MAX_ERROR_CHARS,
    MAX_STORE_CHARS,
    MAX_STORE_KEY_CHARS,
    MAX_STORE_VALUE_CHARS,
    CallReply,
    ScriptEnd,
    ScriptError,
    ScriptRequest,
    ToolSignature,
)
from pi_batch.codemode.worker.frames import MAX_CALL_BYTES, FrameError, decoded

MAX_NOTES = 50
MAX_NOTE_CHARS = 1000
MAX_NAME_CHARS = 200
MAX_LAYERS = 20


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker is locked; first message, before the script is looked at."""

    layers: tuple[str, ...]
    """What holds it, by the names of `lockdown`."""
    refusal: str | None
    """Why no script is run here, in one line; None when it is."""


@dataclass(frozen=True, slots=True)
class Call:
    """The script calls a tool."""

    call_id: int
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Drop:
    """The script waits for a call no longer."""

    call_id: int


@dataclass(frozen=True, slots=True)
class Output:
    """A piece of what it prints."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image for the model."""

    data: str
    mime_type: str


Message = Ready | Call | Drop | Output | Image | ScriptEnd


# --- host to worker ---------------------------------------------------------------------------------


def request_json(request: ScriptRequest) -> dict[str, Any]:
    """A script to run."""
    tools = [
        [tool.name, list(tool.parameters), list(tool.required), tool.signature, tool.description]
        for tool in request.tools
    ]
    return {
        "source": request.source,
        "tools": tools,
        "store": dict(request.store),
        "timeout_s": request.timeout_s,
        "max_calls": request.max_calls,
        "max_calls_at_once": request.max_calls_at_once,
    }


def request_from(value: Mapping[str, Any]) -> ScriptRequest:
    """The same, in the worker."""
    tools = tuple(
        ToolSignature(name, tuple(parameters), tuple(required), signature, description)
        for name, parameters, required, signature, description in value["tools"]
    )
    return ScriptRequest(**{**value, "tools": tools})


def reply_json(reply: CallReply) -> dict[str, Any]:
    """How a call ended."""
    return {"id": reply.call_id, "value": reply.value, "error": reply.error, "error_kind": reply.error_kind}


def reply_from(value: Mapping[str, Any]) -> CallReply:
    """The same, in the worker."""
    return CallReply(value["id"], value["value"], value["error"], value["error_kind"])


# --- worker to host ---------------------------------------------------------------------------------


def message_json(message: Message) -> dict[str, Any]:
    """A message of the worker."""
    match message:
        case Ready():
            return {"kind": "ready", "layers": list(message.layers), "refusal": message.refusal}
        case Call():
            return {
                "kind": "call",
                "id": message.call_id,
                "name": message.name,
                "arguments": dict(message.arguments),
            }
        case Drop():
            return {"kind": "drop", "id": message.call_id}
        case Output():
            return {"kind": "output", "text": message.text}
        case Image():
            return {"kind": "image", "data": message.data, "mime_type": message.mime_type}
        case ScriptEnd():
            return {
                "kind": "end",
                "status": message.status,
                "value": message.value,
                "has_value": message.has_value,
                "error": _error_json(message.error),
                "store": None if message.store is None else dict(message.store),
                "notes": [note[:MAX_NOTE_CHARS] for note in message.notes[:MAX_NOTES]],
            }


def _error_json(error: ScriptError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"type": error.type[:MAX_NAME_CHARS], "text": error.text[:MAX_ERROR_CHARS], "line": error.line}


def message_from(body: bytes) -> Message:
    """The same, in the host. Raises: FrameError for whatever is not exactly one of these messages."""
    fields = _Fields(decoded(body))
    match fields.text("kind", MAX_NAME_CHARS):
        case "ready":
            return Ready(fields.texts("layers", MAX_LAYERS, MAX_NAME_CHARS), fields.optional_text("refusal"))
        case "call":
            if len(body) > MAX_CALL_BYTES:
                raise FrameError(f"a call of {len(body):,} bytes, more than {MAX_CALL_BYTES:,}")
            return Call(
                fields.integer("id"), fields.text("name", MAX_NAME_CHARS), fields.mapping("arguments")
            )
        case "drop":
            return Drop(fields.integer("id"))
        case "output":
            return Output(fields.text("text"))
        case "image":
            return Image(fields.text("data"), fields.text("mime_type", MAX_NAME_CHARS))
        case "end":
            return _end_from(fields)
        case kind:
            raise FrameError(f"unknown kind {kind!r}")


def _end_from(fields: _Fields) -> ScriptEnd:
    status = fields.text("status", MAX_NAME_CHARS)
    is_completed = status == "completed"
    if not is_completed and status != "failed":
        raise FrameError(f"unknown status {status!r}")
    error = None if fields.value("error") is None else _error_from(_Fields(fields.value("error")))
    if is_completed != (error is None):
        raise FrameError("an end whose status and error disagree")
    store = None if fields.value("store") is None else fields.mapping("store")
    if store is not None:
        _check_store(store)
    return ScriptEnd(
        status="completed" if is_completed else "failed",
        value=fields.value("value"),
        has_value=fields.boolean("has_value"),
        error=error,
        store=store if is_completed else None,
        notes=fields.texts("notes", MAX_NOTES, MAX_NOTE_CHARS),
    )


def _error_from(fields: _Fields) -> ScriptError:
    line = None if fields.value("line") is None else fields.integer("line")
    return ScriptError(fields.text("type", MAX_NAME_CHARS), fields.text("text", MAX_ERROR_CHARS), line)


def _check_store(store: Mapping[str, Any]) -> None:
    """Hold the store's limits once more; the worker's own check may have been got around."""
    total = 0
    for key, value in store.items():
        chars = len(json.dumps(value, ensure_ascii=False))
        total += len(key) + chars
        if len(key) > MAX_STORE_KEY_CHARS or chars > MAX_STORE_VALUE_CHARS or total > MAX_STORE_CHARS:
            raise FrameError("a store beyond its limits")


class _Fields:
    """The fields of an object, each with its exact type: `True` is no integer."""

    def __init__(self, value: Any) -> None:
        if type(value) is not dict:
            raise FrameError(f"not an object but {type(value).__name__}")
        self._value: dict[str, Any] = value

    def value(self, name: str) -> Any:
        if name not in self._value:
            raise FrameError(f"no {name!r}")
        return self._value[name]

    def text(self, name: str, most_chars: int | None = None) -> str:
        value = self.value(name)
        if type(value) is not str:
            raise FrameError(f"{name!r} is no text")
        if most_chars is not None and len(value) > most_chars:
            raise FrameError(f"{name!r} is longer than {most_chars:,} characters")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self.value(name) is None else self.text(name, MAX_ERROR_CHARS)

    def texts(self, name: str, most: int, most_chars: int) -> tuple[str, ...]:
        value = self.value(name)
        if type(value) is not list or len(value) > most:
            raise FrameError(f"{name!r} is no list of up to {most}")
        if not all(type(each) is str and len(each) <= most_chars for each in value):
            raise FrameError(f"{name!r} has more in it than short texts")
        return tuple(value)

    def integer(self, name: str) -> int:
        value = self.value(name)
        if type(value) is not int or not 0 <= value < 1 << 31:
            raise FrameError(f"{name!r} is no number from 0")
        return value

    def boolean(self, name: str) -> bool:
        value = self.value(name)
        if type(value) is not bool:
            raise FrameError(f"{name!r} is neither true nor false")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.value(name)
        if type(value) is not dict:
            raise FrameError(f"{name!r} is no object")
        return value
