"""HTTP/1.1 on loopback, as much of it as a model service needs: stdlib only, one request after another."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MAX_BODY_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Hangup(Exception):
    """The connection has been ended on purpose."""


class Connection:
    """What a handler answers through."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    @property
    def peer(self) -> object:
        """Who is at the other end: one value per connection."""
        return self._writer.get_extra_info("peername")

    async def send(self, data: bytes) -> None:
        """Write and let it go out."""
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """The status line and headers; the body follows in chunks."""
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers)]
        await self.send("\r\n".join((*lines, "transfer-encoding: chunked", "", "")).encode("latin-1"))

    async def chunk(self, data: bytes) -> None:
        """One piece of the body."""
        if data:
            await self.send(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        """The end of the body: the connection can be used again."""
        await self.send(b"0\r\n\r\n")

    async def document(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer: JSON, or text when it is a string."""
        is_text = isinstance(body, str)
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        kind = "text/html; charset=utf-8" if is_text else "application/json"
        fields = {"content-type": kind, **(headers or {}), "content-length": str(len(data))}
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        await self.send("\r\n".join(lines).encode("latin-1") + data)

    def hang_up(self, *, is_reset: bool) -> Hangup:
        """End the connection, politely or with a reset; raise what this gives."""
        if is_reset:
            sock: Any = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        return Hangup()


Handler = Callable[[Request, Connection], Awaitable[None]]


async def serve(handler: Handler, host: str, port: int) -> asyncio.Server:
    """Listen; port 0 takes a free one."""

    async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read(reader)) is not None:
                await handler(request, Connection(writer))
        except (Hangup, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(on_connection, host, port, limit=1024 * 1024)


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    size = int(headers.get("content-length", "0"))
    if size > MAX_BODY_BYTES:
        return None
    return Request(method, path, headers, await reader.readexactly(size))
