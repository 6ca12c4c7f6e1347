"""HTTP to model services: the one module that knows httpx. Another client is this file written anew.

All tasks share an endpoint's connections, each in a transport of its own: httpcore's pool would ask the
system about every connection it holds, twice a request. httpx's client is not used: no redirects, cookies,
environment or logging are wanted, and each costs time. Plain http never loads certificates.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from pi_batch import __version__
from pi_batch.errors import ProviderError, UsageError
from pi_batch.providers import faults
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.sse import EventTooLong, SseDecoder, SseEvent
from pi_batch.providers.stall import Stalled, StallGuard

if TYPE_CHECKING:  # 32 ms of CPU; loaded by the first request
    import ssl

    import httpx

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024
DRAIN_S = 0.1
"""What the rest of a finished reply may take so that its connection can be used again."""
KEEPALIVE_S = 30.0
END_S = 5.0
"""What may pass between a reply's end and the usage that some services send after it."""
HEAD_BYTES = 2048


class HttpClient:
    """The connections to one endpoint, opened with the first request."""

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str] | None = None) -> None:
        self.endpoint = endpoint
        self._headers = _headers(endpoint, headers or {})
        self._idle: list[httpx.AsyncHTTPTransport] = []
        """Each with the connection of the request that had it last; the latest is used first."""
        self._tls: ssl.SSLContext | None = None
        self._is_closed = False

    async def post(
        self, url: str, body: bytes, *, timeout_s: float, headers: Mapping[str, str] | None = None
    ) -> EventStream:
        """Post a JSON body and come back with the head of a good answer. Raises: ProviderError."""
        load_httpx()
        import httpx

        times = self.endpoint.timeouts
        request = httpx.Request(
            "POST",
            url,
            headers={**self._headers, **headers} if headers else self._headers,
            content=body,
            extensions={"timeout": {"connect": times.connect_s}},
        )
        transport = self._idle.pop() if self._idle else self._new_transport()
        guard = StallGuard(first_event_s=times.first_event_s, idle_s=times.idle_s, total_s=timeout_s)
        try:
            response = await guard.wait(transport.handle_async_request(request))
        except BaseException as error:
            guard.close()
            await self._give_back(transport)
            if isinstance(error, _failures()):
                raise _fault(self.endpoint, error, is_streaming=False) from error
            raise
        stream = EventStream(self.endpoint, response, guard, lambda: self._give_back(transport))
        if 200 <= response.status_code < 300:
            return stream
        try:
            body = await stream.document(MAX_ERROR_BYTES)
        finally:
            await stream.close()
        raise faults.refused(self.endpoint, response.status_code, response.headers, body)

    async def close(self) -> None:
        """Close every connection; one in use, when it is given back."""
        self._is_closed = True
        while self._idle:
            await self._idle.pop().aclose()

    def _new_transport(self) -> httpx.AsyncHTTPTransport:
        if self._tls is None and self.endpoint.needs_tls:
            self._tls = _tls_context(self.endpoint)
        return _transport(self.endpoint, self._tls)

    async def _give_back(self, transport: httpx.AsyncHTTPTransport) -> None:
        if self._is_closed:
            await transport.aclose()
        else:
            self._idle.append(transport)


class EventStream:
    """A good answer as it arrives."""

    def __init__(
        self,
        endpoint: Endpoint,
        response: httpx.Response,
        guard: StallGuard,
        give_back: Callable[[], Awaitable[None]],
    ) -> None:
        self._endpoint = endpoint
        self._response = response
        self._guard = guard
        self._give_back = give_back
        self._chunks = _chunks(response)
        self._decoder = SseDecoder()
        self._is_at_end = False
        self.head = b""
        """The beginning of an answer that has shown no event yet: what a person will want to see."""
        self.has_events = False
        self.is_cut = False
        """True for events that only the end of the stream completed: they may be cut off."""

    @property
    def media_type(self) -> str:
        """Lower case, without parameters; empty where the service names none."""
        content_type: str = self._response.headers.get("content-type", "")
        return content_type.partition(";")[0].strip().lower()

    def progress(self) -> None:
        """Something that counts has come: the time between events starts anew."""
        self._guard.progress()

    def expect_end(self) -> None:
        """The reply is whole: what is left, usage at most, has little time."""
        self._guard.shorten(END_S)

    async def batch(self) -> list[SseEvent] | None:
        """The next events, at least one; None at the end. Raises: ProviderError."""
        while not self._is_at_end:
            chunk = await self._chunk()
            try:
                events = self._decoder.flush() if chunk is None else self._decoder.feed(chunk)
            except EventTooLong as error:
                message = f"{self._endpoint.service}: an event of more than 32 MB"
                raise ProviderError(message, kind="bad_response", is_retryable=True) from error
            if chunk is None:
                self.is_cut = True
            elif not self.has_events and len(self.head) < HEAD_BYTES:
                self.head += chunk[:HEAD_BYTES]
            if events:
                self.has_events = True
                return events
        return None

    async def document(self, max_bytes: int = MAX_DOCUMENT_BYTES) -> bytes:
        """The whole body, cut at a limit. Raises: ProviderError."""
        pieces = []
        size = 0
        while size < max_bytes and (chunk := await self._chunk()) is not None:
            pieces.append(chunk)
            size += len(chunk)
        return b"".join(pieces)[:max_bytes]

    async def drain(self) -> None:
        """Read what is left of a finished reply, briefly: its connection can then be used again."""
        with contextlib.suppress(TimeoutError, ProviderError):
            async with asyncio.timeout(DRAIN_S):
                while await self._chunk() is not None:
                    pass

    async def close(self) -> None:
        """Give the connection back, or end it when the answer was not read to its end."""
        self._guard.close()
        try:
            await self._response.aclose()
            close_chunks = getattr(self._chunks, "aclose", None)
            if close_chunks is not None:
                await close_chunks()
        finally:
            await self._give_back()

    async def _chunk(self) -> bytes | None:
        try:
            return await self._guard.wait(anext(self._chunks))
        except StopAsyncIteration:
            self._is_at_end = True
            return None
        except _failures() as error:
            raise _fault(self._endpoint, error, is_streaming=True) from error


def load_httpx() -> None:
    """Import httpx without its command line, whose click, rich and pygments cost more than the rest (45 ms).

    A module that is None in `sys.modules` raises ImportError, and httpx then does without it. So does
    httpcore without sniffio, which it asks for several times a request: where it is not installed, each
    search for it takes 0.2 ms.
    """
    if "httpx" not in sys.modules:
        sys.modules["httpx._main"] = None  # type: ignore[assignment]
        try:
            import httpx  # noqa: F401
        finally:
            del sys.modules["httpx._main"]
    if "sniffio" not in sys.modules and importlib.util.find_spec("sniffio") is None:
        sys.modules["sniffio"] = None  # type: ignore[assignment]


def _failures() -> tuple[type[Exception], ...]:
    """What can go wrong on the way; asked only once something has."""
    import httpx

    return httpx.TransportError, httpx.DecodingError, Stalled


def _transport(endpoint: Endpoint, tls: ssl.SSLContext | None) -> httpx.AsyncHTTPTransport:
    """A transport; without a TLS context for what is plain http."""
    import httpx

    proxy = None
    if endpoint.proxy is not None:
        proxy = httpx.Proxy(endpoint.proxy, ssl_context=tls if endpoint.proxy[:6] == "https:" else None)
    context: Any = tls  # None, not False: httpx makes a context for that, too, which plain http never uses
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=1, keepalive_expiry=KEEPALIVE_S)
    return httpx.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits, proxy=proxy)


def _tls_context(endpoint: Endpoint) -> ssl.SSLContext:
    import ssl

    import httpx

    if endpoint.ca_file is None:
        return httpx.create_ssl_context(trust_env=False)
    try:
        return ssl.create_default_context(cafile=endpoint.ca_file)
    except OSError as error:
        raise UsageError(
            f"{endpoint.service}: CA file {endpoint.ca_file!r}: {error.strerror or error}"
        ) from error


def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body's bytes; straight from the transport where nothing is to be unpacked."""
    import httpx

    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("", "identity") and isinstance(response.stream, httpx.AsyncByteStream):
        return aiter(response.stream)
    return response.aiter_bytes()


def _fault(endpoint: Endpoint, error: Exception, *, is_streaming: bool) -> ProviderError:
    """The one mapping of what httpx raises."""
    import httpx

    where = f"{endpoint.service}: {endpoint.place}"
    cause = faults.one_line(endpoint, str(error)) or type(error).__name__
    match error:
        case Stalled(limit="total"):
            message = f"{where}: the time for this request ({error.seconds:.0f} s) is used up"
            return ProviderError(message, kind="timeout")
        case Stalled(limit="first_event"):
            message = f"{where}: nothing came within {error.seconds:g} s"
            return ProviderError(message, kind="timeout", is_retryable=True)
        case Stalled():
            message = f"{where}: the stream stalled: no event for {error.seconds:g} s"
            return ProviderError(message, kind="timeout", is_retryable=True)
        case httpx.DecodingError():
            return ProviderError(f"{where}: {cause}", kind="bad_response", is_retryable=True)
        case httpx.ConnectTimeout():
            message = f"{where}: no connection within {endpoint.timeouts.connect_s:g} s"
            return ProviderError(message, kind="network", is_retryable=True)
        case httpx.ConnectError() | httpx.ProxyError():
            refusal = "certificate" in cause.lower() or cause.startswith(("407", "403"))
            return ProviderError(
                f"{where}: cannot connect: {cause}", kind="network", is_retryable=not refusal
            )
        case httpx.LocalProtocolError() | httpx.UnsupportedProtocol():
            return ProviderError(f"{where}: {cause}", kind="invalid_request")
    if is_streaming:
        message = f"{where}: the stream broke off: {cause}"
        return ProviderError(message, kind="stream_interrupted", is_retryable=True)
    return ProviderError(f"{where}: the connection broke: {cause}", kind="network", is_retryable=True)


def _headers(endpoint: Endpoint, wire: Mapping[str, str]) -> dict[str, str]:
    headers = {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "user-agent": f"pi-batch/{__version__}",
        **wire,
    }
    if endpoint.api_key:
        if endpoint.auth == "bearer":
            headers["authorization"] = f"Bearer {endpoint.api_key}"
        else:
            headers[endpoint.auth] = endpoint.api_key
    return headers | {name.lower(): value for name, value in endpoint.headers.items()}
