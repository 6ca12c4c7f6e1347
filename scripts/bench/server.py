"""A lean model service on loopback, in a process of its own: its time is nobody's.

    python -m scripts.bench.server

It keeps no state: the model's name is the plan, `KIND-TURNS`, and the answers already in a request say which
turn it is. `read-10` asks for nine reads and then answers. `POST /watch/PID` notes the CPU time of a process
at each of its requests; `GET /watched` tells it. Chat Completions are the wire of all figures; the other
three are in `scripts.bench.wires`.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

from scripts.bench import wires

FILES = 20
"""Files src/f0.txt … in the workspace of a bench."""
SLEEPS = 20
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_MODEL = re.compile(rb'(?:"model": ?"|/models/)([a-z]+)-(\d+)')
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

READS = 50
"""Of one script."""
SCRIPT = f"""
texts = await asyncio.gather(*[tools.read(path=f"src/f{{n % {FILES}}}.txt") for n in range({READS})])
print(sum(len(text) for text in texts))
"""

watched: list[tuple[int, int, int]] = []
"""For each request: the CPU time of the watched process and the time, in nanoseconds, and its bytes."""
watched_pid = [0]


class Connection(asyncio.Protocol):
    """One client: requests in, server-sent events out."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a TCP server's always is
        self._transport = transport
        self._received = bytearray()

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self._received, 0, end)
            size = end + 4 + (int(length.group(1)) if length else 0)
            if len(self._received) < size:
                return
            head, body = bytes(self._received[:end]), bytes(self._received[end + 4 : size])
            del self._received[:size]
            self._transport.write(answer(head.split(b" ", 2)[1].decode(), body))


def answer(path: str, body: bytes) -> bytes:
    """The whole response to a request."""
    if path.startswith("/watch/"):
        watched.clear()
        watched_pid[0] = int(path.removeprefix("/watch/"))
        return _plain(b"{}")
    if path == "/watched":
        return _plain(json.dumps(watched).encode())
    if watched_pid[0]:
        watched.append((cpu_ns(watched_pid[0]), time.monotonic_ns(), len(body)))
    model = _MODEL.search(path.encode()) or _MODEL.search(body)
    assert model is not None  # noqa: S101 - a bench that asks for anything else is wrong
    kind, turns = model.group(1).decode(), int(model.group(2))
    turn = wires.replies_in(path, body) + 1
    calls = [] if turn >= turns else calls_of(kind, turn)
    if "/chat/" not in path:
        texts = ["word "] * turns if kind == "deltas" else ["All ", "of ", "it ", "is ", "done."]
        frames = wires.frames(path, () if calls else texts, calls)
        return b"".join([_HEAD, *map(_chunk, frames), b"0\r\n\r\n"])
    if calls:
        return events([{"tool_calls": [call]} for call in calls], "tool_calls")
    if kind == "deltas":
        return events([{"content": "word "}] * turns, "stop")
    return events([{"content": word} for word in ("All ", "of ", "it ", "is ", "done.")], "stop")


def calls_of(kind: str, turn: int) -> list[dict[str, Any]]:
    """The tool calls of a turn, as a stream's deltas carry them."""
    match kind:
        case "bash":
            return [_call(0, turn, "bash", {"command": f"echo turn {turn}"})]
        case "read":
            return [_call(0, turn, "read", {"path": f"src/f{turn % FILES}.txt"})]
        case "script":
            return [_call(0, turn, "codemode", {"script": SCRIPT})]
        case "print":
            return [_call(0, turn, "codemode", {"script": f"print({turn})"})]
        case "mixed":
            return calls_of("bash" if turn % 2 else "read", turn)
        case "sleep":
            return [
                _call(index, turn, "bash", {"command": f"sleep 0.2 # {index}"}) for index in range(SLEEPS)
            ]
        case _:
            return []


def events(deltas: list[dict[str, Any]], finish_reason: str) -> bytes:
    """A response of one event for each delta, as one write: loopback splits it as it likes."""
    pieces = [_HEAD, _event({"role": "assistant", "content": ""})]
    pieces += [_event(delta) for delta in deltas]
    pieces += [_event({}, finish_reason), _event(None), _chunk(b"data: [DONE]\n\n"), b"0\r\n\r\n"]
    return b"".join(pieces)


def cpu_ns(pid: int) -> int:
    """The CPU time of a process's own threads; 0 once it has ended."""
    total = 0
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            total += int((thread / "schedstat").read_text().split()[0])
    except OSError:
        return 0
    return total


def _call(index: int, turn: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": index, "id": f"call_{turn}_{index}", "type": "function", "function": function}


def _event(delta: dict[str, Any] | None, finish_reason: str | None = None) -> bytes:
    """One chunk of a reply; the one without a delta reports usage."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
    event: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "bench",
        "choices": choices,
    }
    if delta is None:
        event["usage"] = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    return _chunk(b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _plain(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


async def main() -> None:
    """Serve until killed; the first line of stdout is the base URL."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/v1", flush=True)  # noqa: T201 - whoever started it needs to know
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
