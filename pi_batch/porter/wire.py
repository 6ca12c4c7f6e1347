"""Messages between a sandbox and its runner: lists of byte strings, with open files beside them.

One packet of a SOCK_SEQPACKET socket is one message, its fields as netstrings. A message too large for a
packet goes by an anonymous file, which is the last of the files that come along.

Source: unix(7), SCM_RIGHTS; memfd_create(2).
"""

from __future__ import annotations

import _socket  # `socket` costs 15 ms at start
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # 2 ms at start
    from collections.abc import Iterable, Sequence

INLINE_BYTES = 60_000
MAX_BYTES = 64 * 1024 * 1024
"""The most that a message may hold; what claims more is no message of ours."""
MAX_FILES = 4
_SPILLED = b"@"
_FD_BYTES = 4


class WireError(Exception):
    """What came is no message."""


def pack(fields: Iterable[bytes]) -> bytes:
    """Fields as netstrings."""
    return b"".join(b"%d:%s" % (len(field), field) for field in fields)


def unpack(data: bytes) -> list[bytes]:
    """The fields of a message. Raises: WireError."""
    fields = []
    position = 0
    while position < len(data):
        colon = data.find(b":", position, position + 12)
        digits = data[position:colon] if colon > 0 else b""
        end = colon + 1 + int(digits) if digits.isdigit() else -1
        if not colon < end <= len(data):
            raise WireError("a field of no length")
        fields.append(data[colon + 1 : end])
        position = end
    return fields


def send(socket: _socket.socket, fields: Iterable[bytes], files: Sequence[int] = ()) -> None:
    """Send one message. Raises: OSError, BlockingIOError where the socket does not block and is full."""
    data = pack(fields)
    if len(data) <= INLINE_BYTES:
        _send(socket, data, files)
        return
    spill = spilled(data)
    try:
        _send(socket, _SPILLED, (*files, spill))
    finally:
        os.close(spill)


def spilled(data: bytes) -> int:
    """An anonymous file with this content, at its beginning."""
    spill = os.memfd_create("pi-batch")
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(spill, rest) :]
        os.lseek(spill, 0, os.SEEK_SET)
    except BaseException:
        os.close(spill)
        raise
    return spill


def _send(socket: _socket.socket, data: bytes, files: Sequence[int]) -> None:
    numbers = b"".join(number.to_bytes(_FD_BYTES, sys.byteorder) for number in files)
    beside = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)] if files else []
    socket.sendmsg([data], beside)


def receive(socket: _socket.socket) -> tuple[list[bytes], list[int]] | None:
    """One message and its files, which are the caller's to close; None at the end of all.

    Raises: WireError for what is none; OSError.
    """
    space = _socket.CMSG_SPACE(MAX_FILES * _FD_BYTES)
    data, beside, _, _ = socket.recvmsg(INLINE_BYTES + 1, space, _socket.MSG_CMSG_CLOEXEC)
    files: list[int] = []
    for level, kind, numbers in beside:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
            files += [
                int.from_bytes(numbers[at : at + _FD_BYTES], sys.byteorder)
                for at in range(0, len(numbers) - _FD_BYTES + 1, _FD_BYTES)
            ]
    if not data:
        close_all(files)
        return None
    try:
        if data == _SPILLED:
            data = _whole(files.pop()) if files else b"a spilled message without its file"
        return unpack(data), files
    except BaseException:
        close_all(files)
        raise


def close_all(files: Iterable[int]) -> None:
    """Let go of files that came with a message."""
    for number in files:
        os.close(number)


def _whole(spill: int) -> bytes:
    """A spilled message. Raises: WireError for one that is too large."""
    try:
        data = os.pread(spill, MAX_BYTES + 1, 0)
    finally:
        os.close(spill)
    if len(data) > MAX_BYTES:
        raise WireError(f"a message of more than {MAX_BYTES} bytes")
    return data
