"""Frames on the socket between a script's host and its worker: a length, then JSON in ASCII.

A length in front, on a socket of its own: nothing that a script prints can look like a frame. What comes from
a worker is decoded by `decoded`, which takes nothing on trust.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator
from typing import Any

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""Of any frame: a tool's result, a script's end."""
MAX_CALL_BYTES = 4 * 1024 * 1024
"""Of a call with its arguments."""
MAX_CONTAINERS = 250_000
"""Lists and objects in a frame: `[{},{},…]` takes twenty times its size once it is decoded."""
MAX_DEPTH = 100
"""Of lists and objects in one another: what walks them later may be deeper in calls than this module is."""

_HEADER = struct.Struct(">I")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


class FrameError(ValueError):
    """A frame that is too long, or whose content is not what it has to be."""


def encoded(value: Any, *, limit_bytes: int = MAX_FRAME_BYTES) -> bytes:
    """A value as a frame. Raises: FrameError when it is no JSON or too long."""
    try:
        body = json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise FrameError(f"not JSON: {error}") from None
    if len(body) > limit_bytes:
        raise FrameError(f"{len(body):,} bytes as JSON, more than {limit_bytes:,}")
    return _HEADER.pack(len(body)) + body


def encoded_by_worker(value: Any, *, limit_bytes: int = MAX_FRAME_BYTES) -> bytes:
    """The same with the limits of `decoded`, so that what is beyond them is an error where it was made."""
    frame = encoded(value, limit_bytes=limit_bytes)
    _check_containers(frame[_HEADER.size :])
    return frame


def decoded(body: bytes) -> Any:
    """What a worker's frame holds. Raises: FrameError."""
    _check_containers(body)
    try:
        value = json.loads(body.decode("ascii"), parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:  # UnicodeError is a ValueError
        raise FrameError(f"not JSON: {type(error).__name__}") from None
    if _containers(body) > MAX_DEPTH:
        _check_depth(value)
    return value


class FrameReader:
    """Cuts what comes in into frames; holds at most one that is not complete."""

    def __init__(self, *, limit_bytes: int = MAX_FRAME_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._held = bytearray()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The bodies of the frames that this piece completes; take them all before the next piece.

        Raises: FrameError for a frame that says it is too long, before any of it is kept.
        """
        self._held += piece
        start = 0
        try:
            while len(self._held) - start >= _HEADER.size:
                (length,) = _HEADER.unpack_from(self._held, start)
                if length > self._limit_bytes:
                    raise FrameError(f"a frame of {length:,} bytes, more than {self._limit_bytes:,}")
                end = start + _HEADER.size + length
                if len(self._held) < end:
                    break
                body = bytes(self._held[start + _HEADER.size : end])
                start = end
                yield body
        finally:
            del self._held[:start]


def _containers(body: bytes) -> int:
    return body.count(b"{") + body.count(b"[")


def _check_containers(body: bytes) -> None:
    """Raises: FrameError."""
    if _containers(body) > MAX_CONTAINERS and _containers(_STRING.sub(b"", body)) > MAX_CONTAINERS:
        raise FrameError(f"more than {MAX_CONTAINERS:,} lists and objects")


def _check_depth(value: Any) -> None:
    """Level by level: the check must not recurse itself. Raises: FrameError."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        lists = [each for each in level if type(each) is list]
        level = [inner for each in level if type(each) is dict for inner in each.values()]
        level += [inner for each in lists for inner in each]
        if not level:
            return
    raise FrameError(f"nested more than {MAX_DEPTH} deep")


def _finite(text: str) -> float:
    """A number with a fraction or an exponent; `1e999` would be infinite."""
    value = float(text)
    if value in (math.inf, -math.inf):
        raise ValueError(f"{text} is too large")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
