"""Messages with files beside them, small and large, well formed and not."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.porter import wire


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with one, other:
        yield one, other


@given(st.lists(st.binary(max_size=300)))
def test_fields_come_back_as_they_were(fields: list[bytes]) -> None:
    assert wire.unpack(wire.pack(fields)) == fields


@given(st.binary(max_size=60))
def test_whatever_comes_is_a_message_or_refused(data: bytes) -> None:
    try:
        fields = wire.unpack(data)
    except wire.WireError:
        return
    assert sum(map(len, fields)) <= len(data)


@pytest.mark.parametrize("data", [b"5:abc", b"x:abc", b":", b"3", b"-1:a", b"9999999999999:a", b"1:ab"])
def test_lengths_that_are_not_true_are_refused(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.unpack(data)


@pytest.mark.parametrize("size", [0, 10, wire.INLINE_BYTES + 1, 3_000_000])
def test_a_message_of_any_size_arrives_with_its_files(
    pair: tuple[socket.socket, socket.socket], size: int
) -> None:
    reading, writing = os.pipe()
    wire.send(pair[0], [b"a", b"x" * size], (writing,))
    os.close(writing)
    message = wire.receive(pair[1])
    assert message is not None
    fields, files = message
    assert fields == [b"a", b"x" * size]
    assert len(files) == 1
    assert not os.get_inheritable(files[0])
    os.write(files[0], b"through")
    wire.close_all(files)
    assert os.read(reading, 99) == b"through"
    os.close(reading)


def test_the_end_and_a_message_that_is_none_are_told_apart(pair: tuple[socket.socket, socket.socket]) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for data in (b"no message", b"@"):
        with open("/dev/null", "rb") as file:  # noqa: PTH123
            socket.send_fds(pair[0], [data], [file.fileno()] if data != b"@" else [])
        with pytest.raises(wire.WireError):
            wire.receive(pair[1])
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    pair[0].close()
    assert wire.receive(pair[1]) is None


def test_a_spilled_message_that_is_no_file_is_refused(pair: tuple[socket.socket, socket.socket]) -> None:
    reading, writing = os.pipe()
    socket.send_fds(pair[0], [b"@"], [reading])
    with pytest.raises(OSError, match="seek"):
        wire.receive(pair[1])
    os.close(reading)
    os.close(writing)
