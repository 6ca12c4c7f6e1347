"""One reply, from the request to the whole message: what all wires share.

Deltas are handed on as they come; the message only once the service has said its end. Whatever fails
before that throws the reply away and says what it is known to have cost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Protocol

from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage, Usage
from pi_batch.protocols import Delta
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.faults import error_in_stream, one_line, senseless
from pi_batch.providers.http import EventStream
from pi_batch.providers.sse import SseEvent
from pi_batch.providers.wire_json import loads

DONE = b"[DONE]"
DOCUMENT_TYPES = ("application/json", "application/problem+json", "text/html")


class Assembler(Protocol):
    """Puts a reply of one wire together."""

    is_whole: bool
    """The service has said how the reply ends."""
    is_over: bool
    """Nothing more will come that counts."""
    has_moved: bool
    """An event that counts came since somebody last set this to False."""

    @property
    def usage(self) -> Usage | None:
        """As far as the service has reported it."""
        ...

    def take(self, event: SseEvent) -> Sequence[Delta]:
        """Read one event. Raises: ProviderError."""
        ...

    def take_document(self, document: dict[str, Any]) -> Sequence[Delta]:
        """Read a reply that came in one piece, though a stream was asked for. Raises: ProviderError."""
        ...

    def message(self) -> AssistantMessage:
        """The whole message. Raises: ProviderError when its end is no good one."""
        ...


async def stream_reply(
    ask: Callable[[], Awaitable[EventStream]], assembler: Assembler, endpoint: Endpoint
) -> AsyncIterator[Delta | AssistantMessage]:
    """Deltas, then the message. Raises: ProviderError, with the usage reported before the failure."""
    stream = await ask()
    try:
        if stream.media_type in DOCUMENT_TYPES:
            body = await stream.document()
            for delta in assembler.take_document(_document(body, endpoint)):
                yield delta
            if not assembler.is_whole:
                raise senseless(endpoint, body)
        else:
            while events := await _next(stream, assembler):
                for event in events:
                    if event.data and event.name != "ping":  # kept alive, whatever its data says
                        for delta in assembler.take(event):
                            yield delta
        if not assembler.is_whole:
            raise _no_end(stream, endpoint)
        yield assembler.message()
        await stream.drain()
    except ProviderError as error:
        error.spent = error.spent or assembler.usage
        raise
    finally:
        await stream.close()


def event_object(event: SseEvent, endpoint: Endpoint) -> dict[str, Any]:
    """An event's data as the object it must be. Raises: ProviderError, for an error object too."""
    payload = loads(event.data)
    if not isinstance(payload, dict):
        if event.name == "error":
            raise error_in_stream(endpoint, {"error": event.data.decode("utf-8", "replace")})
        text = one_line(endpoint, event.data.decode("utf-8", "replace"))
        message = f"{endpoint.service}: an event that is no JSON object: {text}"
        raise ProviderError(message, kind="bad_response", is_retryable=True)
    if payload.get("error") or payload.get("object") == "error" or event.name == "error":
        raise error_in_stream(endpoint, payload)
    return payload


async def _next(stream: EventStream, assembler: Assembler) -> list[SseEvent] | None:
    """The next events; None when the reply is over. Raises: ProviderError.

    A reply whose end was said loses nothing when the connection breaks or stalls after that.
    """
    if assembler.is_over:
        return None
    if assembler.has_moved:
        assembler.has_moved = False
        stream.progress()
    if assembler.is_whole:
        stream.expect_end()
    try:
        events = await stream.batch()
    except ProviderError:
        if assembler.is_whole:
            return None
        raise
    if events and stream.is_cut:
        return [event for event in events if event.data == DONE or loads(event.data) is not None]
    return events


def _document(body: bytes, endpoint: Endpoint) -> dict[str, Any]:
    """A body that came in one piece. Raises: ProviderError unless it may be a reply."""
    document = loads(body)
    if not isinstance(document, dict):
        raise senseless(endpoint, body)
    if document.get("error") or document.get("object") == "error" or document.get("type") == "error":
        raise error_in_stream(endpoint, document)
    return document


def _no_end(stream: EventStream, endpoint: Endpoint) -> ProviderError:
    """The error of a stream that ended too early, or never was one."""
    if stream.has_events:
        message = f"{endpoint.service}: the stream ended before the reply did"
        return ProviderError(message, kind="stream_interrupted", is_retryable=True)
    try:
        _document(stream.head, endpoint)
    except ProviderError as error:
        return error
    return senseless(endpoint, stream.head)
