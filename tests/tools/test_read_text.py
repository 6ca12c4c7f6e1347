"""Windows of lines: against a plain reference, over any content, offset, limit and chunk border."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_batch.tools import read_text
from pi_batch.tools.read_text import CHUNK_BYTES, MAX_BYTES, MAX_LINES, Window, read_window

PIECES = st.sampled_from(
    [b"a", b"\n", b"\n\n", b"\r\n", b"\r", b"\x0c", "\u2028".encode(), "é".encode(), b"\xff", b"\0", b"word "]
)
CONTENT = st.lists(PIECES, max_size=60).map(b"".join)


def window(content: bytes, offset: int = 1, limit: int | None = None) -> Window:
    async def fetch(position: int, length: int) -> bytes:
        return content[position : position + length]

    return asyncio.run(read_window(fetch, content[: read_text.CHUNK_BYTES], offset, limit))


def lines_of(content: bytes) -> list[bytes]:
    """The one definition of a line."""
    pieces = content.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").replace("\0", "\ufffd")


@given(CONTENT, st.integers(1, 70), st.none() | st.integers(1, 70))
def test_a_window_is_the_lines_asked_for(content: bytes, offset: int, limit: int | None) -> None:
    lines = lines_of(content)
    got = window(content, offset, limit)
    wanted = lines[offset - 1 :][: limit or MAX_LINES]
    assert got.text == text(b"".join(wanted))
    assert got.first_line == offset
    assert got.total_lines == len(lines)
    if not wanted:
        assert got.last_line == offset - 1
        return
    assert got.last_line == offset - 1 + len(wanted)
    is_all = got.last_line == len(lines)
    assert got.stopped_by == ("end" if is_all else "limit")


@given(CONTENT.filter(bool), st.integers(1, 5))
def test_following_the_windows_gives_the_whole_file(content: bytes, limit: int) -> None:
    offset, parts = 1, []
    for _ in range(200):
        got = window(content, offset, limit)
        parts.append(got.text)
        if got.stopped_by == "end":
            break
        assert got.last_line >= offset
        offset = got.last_line + 1
    assert "".join(parts) == text(content)


@given(st.lists(st.integers(0, 3000), max_size=80), st.integers(1, 40))
def test_our_own_limits_make_progress_and_lose_nothing(lengths: list[int], offset: int) -> None:
    check_progress(lengths, offset)


@pytest.mark.fuzz
@given(st.lists(st.integers(0, 8000), max_size=400), st.integers(1, 500))
@settings(max_examples=2000, deadline=None)
def test_any_cut_makes_progress_and_loses_nothing(lengths: list[int], offset: int) -> None:
    check_progress(lengths, offset)


def check_progress(lengths: list[int], offset: int) -> None:
    """What is shown is what is there, and the next offset is a later one."""
    content = b"\n".join(b"x" * length * 20 for length in lengths)
    lines = lines_of(content)
    got = window(content, offset)
    assert len(got.text.encode()) <= MAX_BYTES + 1
    if offset > len(lines):
        assert got.text == ""
        return
    assert got.last_line >= got.first_line
    whole = b"".join(lines[offset - 1 : got.last_line])
    if got.stopped_by == "line":
        assert whole.startswith(got.text.encode())
        assert got.last_line == offset
    else:
        assert whole == got.text.encode()


def test_a_huge_line_gives_its_start_and_where_it_goes_on() -> None:
    content = b"first\n" + b"0123456789" * 10_000 + b"\nlast\n"
    got = window(content, 2)
    assert got.stopped_by == "line"
    assert got.text == "0123456789" * (MAX_BYTES // 10)
    assert (got.last_line, got.total_lines) == (2, 3)
    assert content[got.end :].startswith(b"0123456789")
    assert window(content, 3).text == "last\n"


def test_a_huge_line_is_cut_between_characters() -> None:
    content = b"x" + "é".encode() * MAX_BYTES
    got = window(content)
    assert got.stopped_by == "line"
    assert got.replaced == 0
    assert got.text == "x" + "é" * ((MAX_BYTES - 1) // 2)
    assert content[: got.end] == got.text.encode()


def test_bytes_that_are_no_text_do_not_swell_beyond_the_limit() -> None:
    got = window(b"\xff" * (3 * MAX_BYTES))
    assert got.stopped_by == "line"
    assert len(got.text.encode()) <= MAX_BYTES
    assert got.replaced == len(got.text)
    many = window(b"\xff\xfe\n" * MAX_BYTES, limit=2000)
    assert len(many.text.encode()) <= MAX_BYTES
    assert many.text.endswith("\n")


@pytest.mark.parametrize("length", [MAX_BYTES - 1, MAX_BYTES])
def test_a_line_that_just_fits_is_whole(length: int) -> None:
    got = window(b"x" * length + b"\nnext\n")
    assert got.text == "x" * length + "\n"
    assert got.stopped_by == "bytes"
    assert (got.last_line, got.total_lines) == (1, 2)


def test_a_line_one_byte_too_long_is_cut() -> None:
    got = window(b"x" * (MAX_BYTES + 1) + b"\nnext\n")
    assert got.text == "x" * MAX_BYTES
    assert got.stopped_by == "line"


def test_two_thousand_lines_are_the_most() -> None:
    content = b"".join(b"%d\n" % number for number in range(1, 2502))
    got = window(content)
    assert (got.first_line, got.last_line, got.total_lines, got.stopped_by) == (1, 2000, 2501, "lines")
    rest = window(content, 2001)
    assert (rest.last_line, rest.stopped_by) == (2501, "end")
    assert window(content, 1, 5000).stopped_by == "lines"


@given(CONTENT, st.integers(1, 40), st.none() | st.integers(1, 10))
def test_chunk_borders_change_nothing(content: bytes, offset: int, limit: int | None) -> None:
    """The same through chunks of three bytes, though a window reads more at once."""
    expected = window(content, offset, limit)
    original = read_text.CHUNK_BYTES
    read_text.CHUNK_BYTES = 3
    try:
        assert window(content, offset, limit) == expected
    finally:
        read_text.CHUNK_BYTES = original


def test_an_offset_deep_inside_a_huge_file_reads_in_chunks() -> None:
    """Two GB of lines that are made as they are fetched: memory stays bounded, and so is what is fetched."""
    line = b"%07d\n"
    size = 2 * 1024**3
    asked: list[int] = []

    async def fetch(position: int, length: int) -> bytes:
        asked.append(length)
        end = min(position + length, size)
        first, last = position // 8, -(-end // 8)
        block = _numbers(line, first, last)
        return block[position - first * 8 : end - first * 8]

    offset = 5_000_000
    got = asyncio.run(read_window(fetch, asyncio.run(fetch(0, CHUNK_BYTES)), offset, 2))
    assert got.text == "4999999\n5000000\n"
    assert got.total_lines is None
    assert max(asked) == CHUNK_BYTES
    assert len(asked) < 40 + 17 + 4


def _numbers(line: bytes, first: int, last: int) -> bytes:
    """Numbered lines; those that nobody looks at are not numbered one by one."""
    if first <= 4_999_999 <= last:
        return b"".join(line % number for number in range(first, last))
    return b"0000000\n" * (last - first)
