"""What can go wrong on the way: dead servers, stalls, proxies; and what is never done twice."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from contextlib import aclosing
from typing import Any

import pytest

from pi_batch.errors import ErrorKind, UsageError
from pi_batch.messages import AssistantMessage, user_text
from pi_batch.protocols import Delta
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.http import HttpClient
from tests.providers.asking import KEY, ask, failure, patience, provider, quick, request
from tests.servers import Drop, LoopbackServer, Raw, Refuse, Reply, Wire
from tests.servers.http_server import Connection, Request, serve
from tests.servers.script import Step


async def refusal(step: Step, service: str = "openai-chat", **changes: Any) -> Any:
    """The error that one step becomes, with short timeouts."""
    timeouts = changes.pop("timeouts", patience(step))
    async with LoopbackServer([step]) as server:
        asked = provider(server.url, service, timeouts=timeouts)
        error = await failure(asked, request(**changes))
        await asked.close()
        return error


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


async def test_a_dead_server_is_said_in_one_line_and_tried_again() -> None:
    port = free_port()
    error = await failure(provider(f"http://127.0.0.1:{port}"), request())
    assert (error.kind, error.is_retryable) == ("network", True)
    assert f"127.0.0.1:{port}: cannot connect" in str(error)


async def test_a_host_without_name_is_a_network_error() -> None:
    error = await failure(provider("http://nowhere.invalid"), request())
    assert (error.kind, error.is_retryable) == ("network", True)


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_connection_that_ends_before_any_answer_is_tried_again(how: Any) -> None:
    error = await refusal(Drop(how))
    assert (error.kind, error.is_retryable) == ("network", True)


async def test_silence_before_the_head_ends_in_time() -> None:
    started = time.monotonic()
    error = await refusal(Refuse(200, delay_s=5))
    assert time.monotonic() - started < 4.5
    assert (error.kind, error.is_retryable) == ("timeout", True)
    assert "nothing came within 0.3 s" in str(error)


@pytest.mark.parametrize("keepalive", ["", ": OPENROUTER PROCESSING\n\n", "id: 1\n\n"])
async def test_a_stream_that_stalls_ends_in_time_whatever_keeps_it_alive(keepalive: str) -> None:
    wire = Wire(stall_after=3, stall_s=5, keepalive=keepalive)
    started = time.monotonic()
    error = await refusal(Reply("text " * 20, wire=wire))
    assert time.monotonic() - started < 4.5
    assert (error.kind, error.is_retryable) == ("timeout", True)
    assert "no event for 0.3 s" in str(error)


async def test_comments_before_the_first_event_have_the_longer_limit() -> None:
    wire = Wire(stall_after=0, stall_s=0.5, keepalive=": processing\n\n")
    async with LoopbackServer([Reply("late", wire=wire)]) as server:
        asked = provider(server.url, timeouts=quick(first_event_s=5, idle_s=0.2))
        _, message = await ask(asked, request())
        await asked.close()
    assert message.text == "late"


async def test_events_that_keep_coming_are_no_stall() -> None:
    wire = Wire(stall_after=2, stall_s=0.12)
    async with LoopbackServer([Reply("text " * 9, wire=wire)]) as server:
        asked = provider(server.url, timeouts=quick(first_event_s=9, idle_s=9))
        _, message = await ask(asked, request())
        await asked.close()
    assert message.text == "text " * 9


@pytest.mark.parametrize(
    "step", [Refuse(200, delay_s=5), Reply("text " * 20, wire=Wire(stall_after=3, stall_s=5))]
)
async def test_a_request_never_outlives_the_seconds_left(step: Step) -> None:
    started = time.monotonic()
    error = await refusal(step, timeouts=quick(), timeout_s=0.2)
    assert time.monotonic() - started < 4.5
    assert (error.kind, error.is_retryable) == ("timeout", False)


async def test_a_slow_consumer_is_no_stall() -> None:
    async with LoopbackServer([Reply("text " * 2000)]) as server:
        asked = provider(server.url, timeouts=quick(first_event_s=5, idle_s=0.5))
        final = None
        number = 0
        async for item in asked.stream(request()):
            number += 1
            if number in (2, 400):
                await asyncio.sleep(0.8)
            final = item
        await asked.close()
    assert isinstance(final, AssistantMessage)


async def test_a_consumers_own_time_does_not_count_as_silence() -> None:
    async with LoopbackServer([Reply("text " * 9, wire=Wire(stall_after=2, stall_s=1.0))]) as server:
        asked = provider(server.url, timeouts=quick(first_event_s=5, idle_s=0.6))
        items = []
        async for item in asked.stream(request()):
            items.append(item)
            if len(items) == 1:
                await asyncio.sleep(0.8)
        await asked.close()
    assert isinstance(items[-1], AssistantMessage)


async def test_what_hangs_open_after_the_end_is_not_waited_for() -> None:
    async with LoopbackServer([Reply("done", wire=Wire(hangs_at_end=5)), Reply("next")]) as server:
        asked = provider(server.url)
        started = time.monotonic()
        _, message = await ask(asked, request())
        assert time.monotonic() - started < 4.5
        _, following = await ask(asked, request())
        await asked.close()
    assert (message.text, following.text) == ("done", "next")


async def test_usage_after_the_end_is_waited_for_only_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pi_batch.providers.http.END_S", 0.1)
    frame = {"choices": [{"delta": {"content": "done"}, "finish_reason": "stop"}]}
    async with LoopbackServer([Raw(frames=(frame,), wire=Wire(hangs_at_end=5))]) as server:
        asked = provider(server.url)
        started = time.monotonic()
        _, message = await ask(asked, request())
        await asked.close()
    assert time.monotonic() - started < 4.5
    assert (message.text, message.usage) == ("done", None)


async def test_a_finished_reply_leaves_its_connection_for_the_next() -> None:
    ports = set()

    async def handle(request: Request, connection: Connection) -> None:
        ports.add(connection.peer)
        await connection.head(200, [("content-type", "text/event-stream")])
        await connection.chunk(b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n')
        await connection.chunk(b"data: [DONE]\n\n")
        await asyncio.sleep(0.02)
        await connection.end()

    server = await serve(handle, "127.0.0.1", 0)
    asked = provider(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    for _ in range(3):
        await ask(asked, request())
    await asked.close()
    server.close()
    assert len(ports) == 1


async def test_requests_at_once_have_a_connection_each_and_later_ones_use_them_again() -> None:
    ports: list[str] = []
    together = asyncio.Barrier(4)

    async def handle(request: Request, connection: Connection) -> None:
        ports.append(str(connection.peer))
        if len(ports) <= 4:
            await together.wait()
        await connection.head(200, [("content-type", "text/event-stream")])
        await connection.chunk(b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n')
        await connection.end()

    server = await serve(handle, "127.0.0.1", 0)
    asked = provider(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await asyncio.gather(*(ask(asked, request()) for _ in range(4)))
    assert len(set(ports)) == 4
    await asyncio.gather(*(ask(asked, request()) for _ in range(3)))
    await ask(asked, request())
    assert set(ports[4:]) <= set(ports[:4])
    await asked.close()
    server.close()


async def test_many_tasks_share_one_provider() -> None:
    async with LoopbackServer(lambda body: Reply(f"for {body['messages'][-1]['content']}")) as server:
        asked = provider(server.url)
        wanted = [request(user_text(f"task {number}"), session_id=f"s{number}") for number in range(20)]
        answers = await asyncio.gather(*(ask(asked, one) for one in wanted))
        await asked.close()
    assert [message.text for _, message in answers] == [f"for task {number}" for number in range(20)]


async def test_a_cancelled_request_stays_cancelled_and_leaves_nothing_open() -> None:
    async with LoopbackServer(
        [Reply("text " * 20, wire=Wire(stall_after=3, stall_s=9)), Reply("next")]
    ) as server:
        asked = provider(server.url)
        task = asyncio.create_task(ask(asked, request()))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        _, message = await ask(asked, request())
        await asked.close()
    assert message.text == "next"


async def test_a_consumer_that_leaves_early_ends_the_request() -> None:
    async with LoopbackServer(
        [Reply("text " * 20, wire=Wire(stall_after=9, stall_s=9)), Reply("next")]
    ) as server:
        asked = provider(server.url)
        stream: Any = asked.stream(request())
        async with aclosing(stream):
            async for item in stream:
                assert isinstance(item, Delta)
                break
        _, message = await ask(asked, request())
        await asked.close()
    assert message.text == "next"


async def test_a_stream_that_nobody_reads_makes_no_request() -> None:
    async with LoopbackServer([Reply("x")]) as server:
        asked = provider(server.url)
        asked.stream(request())
        await asked.close()
        assert server.requests == []


async def test_a_provider_closes_twice_and_opens_again() -> None:
    async with LoopbackServer([Reply("a"), Reply("b")]) as server:
        asked = provider(server.url)
        await asked.close()
        await ask(asked, request())
        await asked.close()
        await asked.close()
        _, message = await ask(asked, request())
        await asked.close()
    assert message.text == "b"


@pytest.mark.parametrize(
    ("service", "header", "value"),
    [
        ("openai-chat", "authorization", f"Bearer {KEY}"),
        ("anthropic", "x-api-key", KEY),
        ("anthropic", "anthropic-version", "2023-06-01"),
        ("openai-chat", "content-type", "application/json"),
        ("openai-chat", "accept", "text/event-stream"),
    ],
)
async def test_headers_are_what_the_service_wants(service: str, header: str, value: str) -> None:
    async with LoopbackServer([Reply("x")], key=KEY) as server:
        asked = provider(server.url, service)
        await ask(asked, request(model="claude-sonnet-5" if service == "anthropic" else "gpt-4.1"))
        await asked.close()
        assert server.requests[0].headers[header] == value
        assert server.requests[0].headers["user-agent"].startswith("pi-batch/")


async def test_a_persons_headers_win_over_ours() -> None:
    async with LoopbackServer([Reply("x")]) as server:
        asked = provider(server.url, "anthropic", headers={"Anthropic-Version": "2026-10-21", "X-Team": "ci"})
        await ask(asked, request(model="claude-sonnet-5"))
        await asked.close()
        assert server.requests[0].headers["anthropic-version"] == "2026-10-21"
        assert server.requests[0].headers["x-team"] == "ci"


async def test_without_a_key_no_authorization_is_sent() -> None:
    async with LoopbackServer([Reply("x")]) as server:
        asked = provider(server.url, "llamacpp", api_key=None)
        await ask(asked, request())
        await asked.close()
        assert "authorization" not in server.requests[0].headers


async def test_a_wrong_key_is_one_line_that_names_the_variable() -> None:
    async with LoopbackServer([], key="sk-another-key") as server:
        asked = provider(server.url)
        error = await failure(asked, request())
        await asked.close()
    assert (error.kind, error.is_retryable, error.status) == ("auth", False, 401)
    assert str(error) == ("openai-chat: HTTP 401: Incorrect API key provided: ***.; check OPENAI_API_KEY")


STATUSES: list[tuple[Refuse, ErrorKind, float | None]] = [
    (Refuse(429, {"error": {"message": "slow"}}, {"retry-after": "3"}), "rate_limit", 3),
    (Refuse(429, "", {"retry-after-ms": "250"}), "rate_limit", 0.25),
    (
        Refuse(
            429, "", {"retry-after": "Thu, 01 Jan 2026 00:00:09 GMT", "date": "Thu, 01 Jan 2026 00:00:00 GMT"}
        ),
        "rate_limit",
        9,
    ),
    (Refuse(429, "", {"retry-after": "soon"}), "rate_limit", None),
    (
        Refuse(529, {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
        "overloaded",
        None,
    ),
    (Refuse(500, "<html>oops</html>"), "server_error", None),
    (Refuse(404, {"error": {"message": "The model `x` does not exist"}}), "model_not_found", None),
    (Refuse(302, "", {"location": "/login"}), "bad_response", None),
    (Refuse(500, "x" * 1_000_000), "server_error", None),
]


@pytest.mark.parametrize(("step", "kind", "wait_s"), STATUSES)
async def test_a_refusal_is_mapped_with_its_wait(step: Refuse, kind: ErrorKind, wait_s: float | None) -> None:
    error = await refusal(step)
    assert (error.kind, error.status, error.retry_after_s) == (kind, step.status, wait_s)


async def test_a_body_that_is_no_gzip_is_bad() -> None:
    async def handle(request: Request, connection: Connection) -> None:
        await connection.head(200, [("content-type", "text/event-stream"), ("content-encoding", "gzip")])
        await connection.chunk(b"this is no gzip at all")
        await connection.end()

    server = await serve(handle, "127.0.0.1", 0)
    asked = provider(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    error = await failure(asked, request())
    await asked.close()
    server.close()
    assert (error.kind, error.is_retryable) == ("bad_response", True)


async def test_an_answer_that_is_no_http_is_a_network_error() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    asked = provider(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    error = await failure(asked, request())
    await asked.close()
    server.close()
    assert (error.kind, error.is_retryable) == ("network", True)


async def test_an_event_without_end_is_bad_and_ends() -> None:
    step = Raw(b"data: " + b"x" * (33 * 1024 * 1024))
    error = await refusal(step, timeouts=quick(first_event_s=20))
    assert (error.kind, error.is_retryable) == ("bad_response", True)


async def test_requests_go_through_a_proxy_where_one_is_named() -> None:
    seen = []

    async def handle(request: Request, connection: Connection) -> None:
        seen.append((request.path, request.headers.get("proxy-authorization", "")))
        await connection.document(503, "proxied")

    proxy = await serve(handle, "127.0.0.1", 0)
    port = proxy.sockets[0].getsockname()[1]
    asked = provider("http://model.example/v1", proxy=f"http://user:pass@127.0.0.1:{port}")
    error = await failure(asked, request())
    await asked.close()
    proxy.close()
    assert error.status == 503
    assert seen == [("http://model.example/v1/chat/completions", "Basic dXNlcjpwYXNz")]


async def test_a_proxy_that_wants_a_password_is_not_asked_again() -> None:
    async def handle(request: Request, connection: Connection) -> None:
        await connection.document(407, "who are you")

    proxy = await serve(handle, "127.0.0.1", 0)
    port = proxy.sockets[0].getsockname()[1]
    asked = provider("https://model.example/v1", proxy=f"http://127.0.0.1:{port}")
    error = await failure(asked, request())
    await asked.close()
    proxy.close()
    assert (error.kind, error.is_retryable) == ("network", False)


async def test_a_missing_ca_file_is_a_usage_error() -> None:
    client = HttpClient(Endpoint("x", "https://127.0.0.1", ca_file="/nowhere/ca.pem"))
    with pytest.raises(UsageError, match=r"CA file '/nowhere/ca\.pem': No such file"):
        await client.post("https://127.0.0.1/v1", b"{}", timeout_s=1)


async def test_a_certificate_that_nobody_signed_is_not_tried_again(tmp_path: Any) -> None:
    import ssl

    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    files = ["-subj", "/CN=127.0.0.1", "-keyout", key, "-out", certificate]
    made = subprocess.run(["openssl", "req", "-x509", *options, *files], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("no openssl here")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    asked = provider(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    error = await failure(asked, request())
    await asked.close()
    server.close()
    assert (error.kind, error.is_retryable) == ("network", False)
    assert "certificate" in str(error).lower()


PROBE = """
import asyncio, sys
from pi_batch.providers import load
from pi_batch.providers.catalog import SERVICES, endpoint_for
from pi_batch.messages import user_text
from pi_batch.protocols import ModelRequest
print(sorted({'httpx', 'asyncio', 'pydantic'} & {*sys.modules}) if 'asyncio' in sys.modules else 'lazy')
service = SERVICES['llamacpp']
made = load('llamacpp')(service, endpoint_for(service, {'LLAMACPP_BASE_URL': sys.argv[1]}))
print('httpx' in sys.modules)
async def main():
    request = ModelRequest('m', 's', (user_text('x'),), (), 100, None, 9.0)
    async for item in made.stream(request):
        pass
    print(item.text)
    await made.close()
asyncio.run(main())
heavy = {'rich', 'click', 'pygments', 'jinja2', 'pydantic', 'httpx._main', 'yaml'}
print(sorted(heavy & {name for name, module in sys.modules.items() if module is not None}))
import httpx._main
"""


async def test_httpx_comes_with_the_first_request_and_without_its_command_line() -> None:
    async with LoopbackServer([Reply("hello")]) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            PROBE,
            server.url,
            stdout=subprocess.PIPE,
            env={**os.environ, "HTTP_PROXY": "http://x.invalid"},
        )
        out, _ = await process.communicate()
    lines = out.decode().split("\n")
    assert lines[1:4] == ["False", "hello", "[]"]
    assert process.returncode == 0
