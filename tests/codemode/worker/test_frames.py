"""Frames: whatever is cut, comes out whole; whatever is no frame, is refused before it costs anything."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_batch.codemode.worker.frames import (
    MAX_CONTAINERS,
    MAX_DEPTH,
    MAX_FRAME_BYTES,
    FrameError,
    FrameReader,
    decoded,
    encoded,
)

ANY_TEXT = st.text(st.characters(), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=30)
@given(st.lists(JSON, max_size=4), st.integers(1, 30))
def test_values_come_out_as_they_went_in_however_they_are_cut(values: list[Any], size: int) -> None:
    stream = b"".join(encoded(value) for value in values)
    reader = FrameReader()
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [decoded(body) for piece in pieces for body in reader.feed(piece)] == values


def test_a_lone_surrogate_survives() -> None:
    frame = encoded("a\ud800b")
    assert frame.isascii()
    assert decoded(frame[4:]) == "a\ud800b"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), b"bytes"])
def test_what_is_no_json_is_not_sent(value: Any) -> None:
    with pytest.raises(FrameError, match="not JSON"):
        encoded(value)


def test_what_nests_without_end_is_not_sent() -> None:
    knot: list[Any] = []
    knot.append(knot)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (knot, deep):
        with pytest.raises(FrameError, match="not JSON"):
            encoded(value)


def test_what_is_too_long_is_not_sent_and_the_error_counts() -> None:
    with pytest.raises(FrameError, match=r"1,002 bytes as JSON, more than 1,000"):
        encoded("x" * 1000, limit_bytes=1000)
    assert len(encoded("x" * 998, limit_bytes=1000)) == 1004


def test_a_frame_that_says_it_is_too_long_is_refused_at_its_header() -> None:
    reader = FrameReader()
    with pytest.raises(FrameError, match="a frame of 4,294,967,295 bytes"):
        list(reader.feed(b"\xff\xff\xff\xff"))


def test_frames_before_a_bad_one_are_still_given() -> None:
    reader = FrameReader(limit_bytes=10)
    bodies = []
    with pytest.raises(FrameError):  # noqa: PT012 -- the loop is what raises
        for body in reader.feed(encoded(1) + struct.pack(">I", 11)):
            bodies.append(body)  # noqa: PERF402
    assert bodies == [b"1"]


def test_a_frame_that_never_ends_is_held_and_no_more() -> None:
    reader = FrameReader()
    assert list(reader.feed(struct.pack(">I", MAX_FRAME_BYTES) + b"12345")) == []
    assert len(reader._held) == 9


def test_an_empty_frame_is_a_frame_of_no_json() -> None:
    (body,) = FrameReader().feed(b"\0\0\0\0")
    with pytest.raises(FrameError, match="not JSON"):
        decoded(body)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nope",
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b"[-1e999]",
        b'"\xff"',
        b'"\xc3\xa9"',
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b"1" * 5000,
        b'"\x00"',
        b"1 2",
        b"\xef\xbb\xbf1",
    ],
    ids=lambda body: repr(body[:12]),
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(FrameError):
        decoded(body)


@pytest.mark.parametrize("item", [b"{},", b"[],", b'{"":[]},'])
def test_a_frame_that_would_grow_twentyfold_in_memory_is_refused(item: bytes) -> None:
    count = MAX_CONTAINERS + 1
    with pytest.raises(FrameError, match="more than 250,000 lists and objects"):
        decoded(b"[" + (item * count)[:-1] + b"]")


def test_what_nests_deeper_than_others_can_walk_is_refused() -> None:
    def nested(depth: int, opening: bytes, closing: bytes) -> bytes:
        return opening * depth + b"1" + closing * depth

    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}"), (b'[0,{"a":', b"}]")):
        per = opening.count(b"[") + opening.count(b"{")
        decoded(nested(MAX_DEPTH // per, opening, closing))
        with pytest.raises(FrameError, match="nested more than 100 deep"):
            decoded(nested(MAX_DEPTH // per + 1, opening, closing))


def test_brackets_inside_a_text_are_no_lists() -> None:
    text = '[{"\\' * 200_000
    assert decoded(json.dumps([text, text]).encode()) == [text, text]


def test_an_unclosed_text_full_of_backslashes_is_refused_in_linear_time() -> None:
    with pytest.raises(FrameError):
        decoded(b'["' + b"\\[" * 300_000)
