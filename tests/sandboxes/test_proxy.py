"""The proxy lets listed hosts through and nothing else, whatever a client says."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from pi_batch.sandboxes import load
from pi_batch.sandboxes.proxy import Proxy
from tests.sandboxes.rigs import PATH, place_in, works

Talk = Callable[[bytes], Awaitable[bytes]]


@asynccontextmanager
async def echo_server() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that notes what it gets and answers each connection once."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.read(4096))
        await asyncio.sleep(0.02)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine")
        await writer.drain()
        with suppress(TimeoutError):
            if extra := await asyncio.wait_for(reader.read(4096), 0.05):
                seen.append(extra)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], seen
        await asyncio.sleep(0.08)


@asynccontextmanager
async def proxy(*hosts: str) -> AsyncIterator[Talk]:
    """A proxy and a way to send it something and read all that it answers."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    made = Proxy(hosts)
    await made.start(listening)

    async def talk(data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        writer.write_eof()
        try:
            return await asyncio.wait_for(reader.read(), 5)
        finally:
            writer.close()

    try:
        yield talk
    finally:
        made.close()
        await asyncio.sleep(0.01)  # connections end in the loop's next rounds


def connect(target: str, then: bytes = b"") -> bytes:
    """A CONNECT, with what follows in the tunnel."""
    return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode() + then


async def test_a_listed_host_is_reached_through_a_tunnel_and_by_a_plain_request() -> None:
    async with echo_server() as (port, seen), proxy(f"127.0.0.1:{port}") as talk:
        answer = await talk(connect(f"127.0.0.1:{port}", b"hello"))
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.endswith(b"fine")
        assert seen == [b"hello"]
        request = f"GET http://127.0.0.1:{port}/a?b HTTP/1.1\r\nHost: evil.example\r\nX: y\r\n\r\n"
        assert (await talk(request.encode())).endswith(b"fine")
        sent = f"GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX: y\r\nConnection: close\r\n\r\n"
        assert seen[1] == sent.encode()


@pytest.mark.parametrize(
    "request_",
    [
        "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: listed.example:443\r\n\r\n",
        "CONNECT localhost:{port} HTTP/1.1\r\n\r\n",
        "CONNECT listed.example@127.0.0.1:{port} HTTP/1.1\r\n\r\n",
        "CONNECT 127.0.0.1:{port}/listed.example HTTP/1.1\r\n\r\n",
        "CONNECT 127.0.0.1:{port} \r\n\r\n",
        "CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1\r\n\r\n",
        "CONNECT 2130706433:{port} HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: listed.example\r\n\r\n",
        "GET http://listed.example@127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n",
        "GET ftp://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1:{port}\\@listed.example/ HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1:{port}/ HTTP/2\r\n\r\n",
        "rubbish\r\n\r\n",
        "\r\n\r\n",
    ],
)
async def test_what_is_not_listed_is_not_reached(request_: str) -> None:
    async with echo_server() as (port, seen), proxy("listed.example", "*.listed.example") as talk:
        answer = await talk(request_.format(port=port).encode())
        assert not answer.startswith(b"HTTP/1.1 200")
        assert seen == []


async def test_a_second_request_cannot_follow_the_first_to_the_same_server() -> None:
    async with echo_server() as (port, seen), proxy(f"127.0.0.1:{port}") as talk:
        first = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n"
        await talk((first + "GET / HTTP/1.1\r\nHost: other\r\n\r\n").encode())
        assert b"other" not in b"".join(seen)
        for body in (
            "Transfer-Encoding: chunked",
            "Content-Length: 1\r\nContent-Length: 2",
            "Content-Length: x",
        ):
            answer = await talk(f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\n{body}\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 4")


async def test_a_body_goes_with_its_request() -> None:
    async with echo_server() as (port, seen), proxy(f"127.0.0.1:{port}") as talk:
        head = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: 4\r\n\r\n"
        await talk(head.encode() + b"body and more")
        assert b"".join(seen).endswith(b"\r\n\r\nbody")


async def test_a_name_that_leads_to_this_machine_is_refused_unless_it_says_so() -> None:
    async with echo_server() as (port, seen):
        name = socket.gethostname()
        if not all(
            str(entry[4][0]).startswith("127.") for entry in socket.getaddrinfo(name, port, socket.AF_INET)
        ):
            name = "localhost.localdomain"
        async with proxy(f"{name}:{port}") as talk:
            answer = await talk(connect(f"{name}:{port}", b"x"))
        assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 502"))
        assert seen == []
        async with proxy(f"localhost:{port}") as talk:
            assert (await talk(connect(f"localhost:{port}", b"x"))).startswith(b"HTTP/1.1 200")


async def test_a_refusal_says_why_and_what_cannot_be_reached_is_a_bad_gateway() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with proxy(f"127.0.0.1:{port}") as talk:
        assert (await talk(connect(f"127.0.0.1:{port}"))).startswith(b"HTTP/1.1 502")
        refused = await talk(connect("pypi.org:443"))
    assert refused.endswith(b"pi-batch: pypi.org:443 is not in permissions.network\n")


async def test_an_endless_head_is_no_request() -> None:
    async with proxy("a.example") as talk:
        with suppress(ConnectionError):
            assert await talk(b"GET " + b"x" * 200_000) == b""


@pytest.mark.skipif(not works("bwrap"), reason="no bwrap here")
async def test_in_a_sandbox_a_listed_host_is_the_only_way_out(tmp_path: Path) -> None:
    output: list[bytes] = []
    async with echo_server() as (port, seen), echo_server() as (other, seen_by_other):
        sandbox = load("bwrap")(place_in(tmp_path, network=(f"127.0.0.1:{port}",)))
        await sandbox.start()
        proxied = 'curl -s -m 3 --noproxy "" http://127.0.0.1'
        direct = "curl -s -m 3 http://127.0.0.1"
        script = f"{proxied}:{port}/; {proxied}:{other}/; {direct}:{other}/"
        await sandbox.exec(
            ["bash", "-c", script], cwd="/", env={"PATH": PATH}, timeout_s=15, on_output=output.append
        )
        await sandbox.close()
    assert b"".join(output) == f"finepi-batch: 127.0.0.1:{other} is not in permissions.network\n".encode()
    assert len(seen) == 1
    assert seen_by_other == []
