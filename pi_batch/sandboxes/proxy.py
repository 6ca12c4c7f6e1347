"""The one way out of a sandbox whose network is a list of hosts: an HTTP proxy that lets these through.

It looks at the host of a CONNECT, and at the host of a plain request, which is sent on with that very Host.
What goes through a tunnel is the two ends' own: a listed host that forwards to others is not found out.

Source: RFC 9110 §9.3.6 (CONNECT), RFC 9112 §3.2 (request targets).
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from pi_batch.hosts import AllowedHost, address_of

MAX_HEAD_BYTES = 64 * 1024
HEAD_S = 30.0
CONNECT_S = 30.0
CHUNK_BYTES = 64 * 1024
VARIABLES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")
"""What clients read; in either case, as there is no standard."""
NO_PROXY = "localhost,127.0.0.1,::1"


class _Target(Struct, frozen=True):
    host: str
    port: int


class _Refused(Exception):
    """A request that is not let through: its status line's number and words for the client."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Proxy:
    """Serves on a socket that listens in the sandbox; connects from here."""

    def __init__(self, hosts: Sequence[str]) -> None:
        """Raises: ValueError for an entry that is no host."""
        self._allowed = tuple(AllowedHost.parse(entry) for entry in hosts)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self, listening: socket.socket) -> None:
        """Begin to serve."""
        self._server = await asyncio.start_server(self._serve, sock=listening, limit=MAX_HEAD_BYTES)

    def close(self) -> None:
        """End every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in self._connections:
            connection.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 -- for the types
        self._connections.add(task)
        try:
            await self._answer(reader, writer)
        except _Refused as refused:
            body = f"pi-batch: {refused}\n"
            lines = (
                f"HTTP/1.1 {refused.status}",
                f"Content-Length: {len(body.encode())}",
                "Connection: close",
            )
            head = "\r\n".join((*lines, "", ""))
            with contextlib.suppress(OSError):
                writer.write((head + body).encode())
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # one end has gone; the other sees it
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request: a tunnel, or one plain request with its answer."""
        async with asyncio.timeout(HEAD_S):
            head = await reader.readuntil(b"\r\n\r\n")
        method, target, version, headers = _parsed(head)
        if method == "CONNECT":
            goal = self._permitted(_authority(target, None))
            upstream = await self._connect(goal)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _pipe_both(reader, writer, *upstream)
            return
        url = urlsplit(target)
        if url.scheme != "http" or not url.netloc or "@" in url.netloc:
            raise _Refused("400 Bad Request", "a proxy takes CONNECT, or http:// URLs in full")
        goal = self._permitted(_authority(url.netloc, 80))
        length = _body_length(headers)
        upstream = await self._connect(goal)
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        first = (f"{method} {path} {version}", f"Host: {url.netloc}")
        try:
            await _send_one(reader, upstream[1], [*first, *_kept(headers)], length)
            await _pipe(upstream[0], writer)
        finally:
            upstream[1].close()

    def _permitted(self, target: _Target) -> _Target:
        """Raises: _Refused for a host that is not listed."""
        if any(entry.allows(target.host, target.port) for entry in self._allowed):
            return target
        raise _Refused("403 Forbidden", f"{target.host}:{target.port} is not in permissions.network")

    async def _connect(self, target: _Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to an address that the name may have: never this machine's own, unless listed so."""
        by_number = any(
            entry.is_address and entry.allows(target.host, target.port) for entry in self._allowed
        )
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_S):
                found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
                addresses = [str(entry[4][0]) for entry in found]
                open_to = [each for each in addresses if by_number or not _is_own(each)]
                if not open_to:
                    raise _Refused("403 Forbidden", f"{target.host} leads to this machine's own network")
                return await asyncio.open_connection(open_to[0], target.port, limit=MAX_HEAD_BYTES)
        except (OSError, TimeoutError) as error:
            raise _Refused("502 Bad Gateway", f"{target.host}:{target.port} cannot be reached") from error


def _parsed(head: bytes) -> tuple[str, str, str, list[tuple[str, str]]]:
    """Request line and headers. Raises: _Refused."""
    try:
        first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        method, target, version = first.split(" ")
        headers = [(name, value.strip()) for name, value in (line.split(":", 1) for line in lines)]
    except ValueError as error:
        raise _Refused("400 Bad Request", "no HTTP request") from error
    if not version.startswith("HTTP/1.") or any("\n" in part or "\r" in part for part in (first, *lines)):
        raise _Refused("400 Bad Request", "no HTTP/1 request")
    return method, target, version, headers


def _authority(text: str, default_port: int | None) -> _Target:
    """host:port as a target. Raises: _Refused."""
    with contextlib.suppress(ValueError):
        url = urlsplit(f"//{text}")
        port = url.port or default_port
        if url.hostname and port and "@" not in text and url.path == url.query == "":
            return _Target(url.hostname.lower().rstrip("."), port)
    raise _Refused("400 Bad Request", f"no host and port: {text!r}")


def _body_length(headers: Sequence[tuple[str, str]]) -> int:
    """How much of a body there is. Raises: _Refused for one that does not say so: more could hide in it."""
    if any(name.lower() == "transfer-encoding" for name, _ in headers):
        raise _Refused("411 Length Required", "a plain request must tell its length")
    lengths = {value for name, value in headers if name.lower() == "content-length"}
    if len(lengths) > 1 or not all(value.isdigit() for value in lengths):
        raise _Refused("400 Bad Request", "one length, please")
    return int(lengths.pop()) if lengths else 0


def _kept(headers: Sequence[tuple[str, str]]) -> list[str]:
    """Headers that are for the other end."""
    dropped = ("host", "connection", "proxy-connection", "keep-alive", "proxy-authorization", "upgrade")
    return [f"{name}: {value}" for name, value in headers if name.lower() not in dropped]


async def _send_one(
    reader: asyncio.StreamReader, upstream: asyncio.StreamWriter, lines: Sequence[str], length: int
) -> None:
    """One request and not a byte more: a second could name another host."""
    upstream.write("\r\n".join((*lines, "Connection: close", "", "")).encode("latin-1"))
    while length > 0:
        chunk = await reader.read(min(length, CHUNK_BYTES))
        if not chunk:
            break
        length -= len(chunk)
        upstream.write(chunk)
        await upstream.drain()
    await upstream.drain()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(CHUNK_BYTES):
        writer.write(chunk)
        await writer.drain()


async def _pipe_both(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    up_reader: asyncio.StreamReader,
    up_writer: asyncio.StreamWriter,
) -> None:
    """Both directions until either end has gone."""

    async def one(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await _pipe(source, sink)
            if sink.can_write_eof():
                sink.write_eof()

    try:
        await asyncio.gather(one(reader, up_writer), one(up_reader, writer))
    finally:
        up_writer.close()


def _is_own(text: str) -> bool:
    """True for this machine and its link: loopback, a cloud's metadata service."""
    address = address_of(text)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address is None or address.is_loopback or address.is_link_local or address.is_unspecified
