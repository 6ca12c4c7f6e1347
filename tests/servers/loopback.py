"""The server: checks each request, records it, and answers with the next step of its script."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from tests.servers.chat_rules import PROFILES, ChatProfile
from tests.servers.dialects import CHAT, Dialect, dialect_of, overflow, with_model
from tests.servers.http_server import Connection, Request, serve
from tests.servers.refusal import Refusal, need, read_json
from tests.servers.script import Drop, Raw, Refuse, Reply, Step, Wire

MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request that came."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: dict[str, Any]
    """Empty when it could not be read."""
    refusal: str | None
    """Why it was refused; None when it was good."""


class LoopbackServer:
    """A service with a script, in this process: `async with LoopbackServer([Reply("hi")]) as server`."""

    def __init__(
        self,
        steps: Iterable[Step] | Callable[[Mapping[str, Any]], Step] = (),
        *,
        by_turn: bool = False,
        profile: str | ChatProfile = "openai",
        key: str | None = None,
        context_tokens: int | None = None,
        port: int = 0,
    ) -> None:
        self.requests: list[Recorded] = []
        self.connections = 0
        self._answer = steps if callable(steps) else None
        self._steps: Sequence[Step] = () if callable(steps) else list(steps)
        self._by_turn = by_turn
        """True: the step is chosen by how many replies a request holds, so that many tasks can share it."""
        self._profile = PROFILES[profile] if isinstance(profile, str) else profile
        self._key = key
        self._context_tokens = context_tokens
        self._port = port
        self._next = 0
        self._server: asyncio.Server | None = None
        self._busy: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """http://127.0.0.1:PORT, without /v1."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def refused(self) -> list[str]:
        """Why requests were refused, in order."""
        return [request.refusal for request in self.requests if request.refusal]

    async def start(self) -> None:
        """Listen."""
        self._server = await serve(self._handle, "127.0.0.1", self._port)

    async def stop(self) -> None:
        """Stop listening and end what is being answered."""
        assert self._server is not None
        self._server.close()
        for task in self._busy:
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _handle(self, request: Request, connection: Connection) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        try:
            await self._respond(request, connection)
        finally:
            self._busy.discard(task)

    async def _respond(self, request: Request, connection: Connection) -> None:
        if request.path == "/health":
            await connection.document(200, {"status": "ok"})
            return
        dialect = dialect_of(request.path)
        body: dict[str, Any] = {}
        try:
            body = self._checked(dialect, request)
        except Refusal as refusal:
            self.requests.append(Recorded(request.path, request.headers, request.body, body, refusal.message))
            await connection.document(refusal.status, (dialect or CHAT).error_body(refusal))
            return
        assert dialect is not None
        self.requests.append(Recorded(request.path, request.headers, request.body, body, None))
        await self._play(self._step(dialect, body), dialect, body, request, connection)

    def _checked(self, dialect: Dialect | None, request: Request) -> dict[str, Any]:
        """The request's object, if a service would take it. Raises: Refusal."""
        if dialect is None:
            raise Refusal(f"no such path: {request.path}", status=404, code="not_found")
        if self._key is not None:
            dialect.check_key(request, self._key)
        need(
            len(request.body) <= MAX_BYTES,
            "Request exceeds the maximum size",
            status=413,
            code="request_too_large",
        )
        need(
            "application/json" in request.headers.get("content-type", ""),
            "content-type: need application/json",
        )
        body = with_model(read_json(request.body), request.path)
        dialect.check(body, request, self._profile)
        tokens = len(request.body) // 4
        if self._context_tokens is not None and tokens > self._context_tokens:
            raise overflow(dialect, tokens, self._context_tokens)
        return body

    def _step(self, dialect: Dialect, body: Mapping[str, Any]) -> Step:
        if self._answer is not None:
            return self._answer(body)
        index = self._next
        self._next += 1
        if self._by_turn:
            index = dialect.turns(body)
        if index < len(self._steps):
            return self._steps[index]
        return Refuse(500, {"error": {"message": "the script is at its end", "type": "script"}})

    async def _play(
        self, step: Step, dialect: Dialect, body: dict[str, Any], request: Request, connection: Connection
    ) -> None:
        chars = len(request.body)
        match step:
            case Drop():
                raise connection.hang_up(is_reset=step.how == "reset")
            case Refuse():
                await asyncio.sleep(step.delay_s)
                await connection.document(step.status, step.body, step.headers)
            case Raw():
                frames = [_framed(frame) for frame in step.frames]
                whole = step.body if isinstance(step.body, bytes) else step.body.encode()
                await _stream([*frames, whole] if whole else frames, step.wire, connection)
            case Reply() if not dialect.streams(body, request):
                await connection.document(200, dialect.document(step, body, chars))
            case Reply():
                frames = [_framed(frame) for frame in dialect.frames(step, body, chars)]
                await _stream(frames, step.wire, connection)


def _framed(frame: Mapping[str, Any] | str) -> bytes:
    text = frame if isinstance(frame, str) else f"data: {json.dumps(frame, ensure_ascii=False)}\n\n"
    return text.encode("utf-8", "surrogatepass")


async def _stream(frames: list[bytes], wire: Wire, connection: Connection) -> None:
    """Send frames the way `wire` says."""
    await asyncio.sleep(wire.first_delay_s)
    headers = [("content-type", wire.content_type), ("cache-control", "no-cache")]
    frames = [frame.replace(b"\n", b"\r\n") if wire.crlf else frame for frame in frames]
    if wire.bom and frames:
        frames[0] = b"\xef\xbb\xbf" + frames[0]
    if wire.drops_last_blank and frames:
        frames[-1] = frames[-1].rstrip(b"\r\n")
    if wire.gzip:
        headers.append(("content-encoding", "gzip"))
        frames = [gzip.compress(b"".join(frames))]
    await connection.head(200, headers)
    for index, frame in enumerate(frames):
        if index == wire.stall_after:
            await _stall(wire, connection)
        if index == wire.cut_after:
            await connection.chunk(frame[: len(frame) // 2] if wire.cut_inside else b"")
            raise connection.hang_up(is_reset=wire.cut_how == "reset")
        for part in _parts(frame, wire.split_bytes):
            await connection.chunk(part)
            if wire.split_bytes:
                await asyncio.sleep(0)
        if wire.comment_every and index % wire.comment_every == 0:
            await connection.chunk(b": OPENROUTER PROCESSING\n\n")
    await asyncio.sleep(wire.hangs_at_end)
    with contextlib.suppress(ConnectionError):
        await connection.end()


async def _stall(wire: Wire, connection: Connection) -> None:
    left_s = wire.stall_s
    while left_s > 0:
        await asyncio.sleep(min(0.02, left_s))
        left_s -= 0.02
        if wire.keepalive:
            await connection.chunk(wire.keepalive.encode())


def _parts(frame: bytes, size: int) -> Iterable[bytes]:
    return [frame[start : start + size] for start in range(0, len(frame), size)] if size else [frame]
