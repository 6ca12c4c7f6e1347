"""The worker's end of the socket: what goes out when, and what a script may not send."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from pi_batch.codemode.values import CallReply
from pi_batch.codemode.worker.child import AT_ONCE_PIECES, PIECE_CHARS, _Port, load
from pi_batch.codemode.worker.frames import FrameError, FrameReader, encoded
from pi_batch.codemode.worker.wire import Call, Image, Message, Output, message_from, reply_json
from tests.codemode.worker import runners


class Host:
    """The other end."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._reader = FrameReader()

    def heard(self) -> list[Message]:
        """All that has come so far."""
        found: list[Message] = []
        while True:
            try:
                piece = self.socket.recv(1 << 20)
            except BlockingIOError:
                return found
            found += map(message_from, self._reader.feed(piece))


@pytest.fixture
def ends() -> Iterator[tuple[_Port, Host]]:
    worker, host = socket.socketpair()
    host.setblocking(False)
    with worker, host:
        yield _Port(worker.fileno()), Host(host)


def test_the_first_pieces_go_out_one_by_one(ends: tuple[_Port, Host]) -> None:
    port, host = ends
    for text in ("a", "b", "c"):
        port.output(text)
    assert host.heard() == [Output("a"), Output("b"), Output("c")]


def test_many_pieces_are_gathered_and_a_call_sends_them_first(ends: tuple[_Port, Host]) -> None:
    port, host = ends
    for _ in range(AT_ONCE_PIECES):
        port.output("x")
        host.heard()
    for number in range(3000):
        port.output(f"{number},")
    port.call(1, "read", {"path": "a"})
    *outputs, last = host.heard()
    assert last == Call(1, "read", {"path": "a"})
    assert "".join(each.text for each in outputs if isinstance(each, Output)).endswith("2998,2999,")
    assert len(outputs) < 300


def test_a_long_text_goes_out_in_pieces(ends: tuple[_Port, Host]) -> None:
    port, host = ends
    port.output("x" * (PIECE_CHARS + 1))
    assert [len(each.text) for each in host.heard() if isinstance(each, Output)] == [PIECE_CHARS, 1]


def test_replies_are_received_in_their_order_and_a_timeout_is_none(ends: tuple[_Port, Host]) -> None:
    port, host = ends
    replies = [CallReply(1, value=[1]), CallReply(2, error="no")]
    host.socket.sendall(b"".join(encoded(reply_json(reply)) for reply in replies))
    assert [port.receive(1), port.receive(None)] == replies
    assert port.receive(0) is None
    assert port.receive(0.01) is None
    assert port.receive(-1) is None
    host.socket.sendall(encoded(reply_json(replies[0])))
    assert port.receive(1e8) == replies[0]


def test_a_reply_may_hold_what_a_script_may_not_send(ends: tuple[_Port, Host]) -> None:
    port, host = ends
    value: object = 1
    for _ in range(300):
        value = [value]
    host.socket.sendall(encoded(reply_json(CallReply(1, value=value))))
    reply = port.receive(None)
    assert reply is not None
    assert reply.value == value


def test_arguments_that_cannot_be_sent_are_an_error_of_the_script(ends: tuple[_Port, Host]) -> None:
    port, host = ends
    for arguments in ({"a": object()}, {"a": "x" * (4 * 1024 * 1024)}, {"a": float("nan")}):
        with pytest.raises(FrameError):
            port.call(1, "write", arguments)
    with pytest.raises(FrameError):
        port.image("x" * (16 * 1024 * 1024), "image/png")
    port.image("aGk=", "image/png")
    assert host.heard() == [Image("aGk=", "image/png")]


def test_what_was_printed_before_a_call_that_fails_is_not_lost(ends: tuple[_Port, Host]) -> None:
    port, host = ends
    port.output("before")
    with pytest.raises(FrameError):
        port.call(1, "write", {"a": object()})
    assert host.heard() == [Output("before")]


def test_a_runner_is_a_module_with_two_functions() -> None:
    assert load("tests.codemode.worker.runners") == (runners.prepare, runners.run_script)
    with pytest.raises(AttributeError):
        load("tests.codemode.worker.rigs")
