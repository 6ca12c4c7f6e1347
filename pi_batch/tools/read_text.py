r"""A window of lines out of a file of any size, in bounded memory.

A line ends at "\n" and nowhere else; what follows the last one is a line unless it is empty. A file is
fetched in chunks, so that an offset far inside a huge file costs time and no memory.
"""

from __future__ import annotations

import codecs
from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
MAX_WHOLE_BYTES = 8 * 1024 * 1024
"""The most that a script gets at a time."""
CHUNK_BYTES = 1024 * 1024
COUNT_BYTES = 16 * 1024 * 1024
"""How far behind the window lines are still counted for the total."""

Fetch = Callable[[int, int], Awaitable[bytes]]
"""(position, length) -> that many bytes, fewer only at the end of the file."""

StoppedBy = Literal["end", "limit", "lines", "bytes", "line"]
"""end: nothing is left; limit: the caller's; lines, bytes: ours; line: within a line that is too long."""


class Window(Struct, frozen=True):
    """Some lines of a file."""

    text: str
    """With the line ends as they are; undecodable bytes and NULs as U+FFFD."""
    first_line: int
    last_line: int
    """`first_line - 1` when the file ends before."""
    total_lines: int | None
    """None when the file goes on too far to count."""
    stopped_by: StoppedBy
    replaced: int
    """How many U+FFFD stand for undecodable bytes or NULs."""
    end: int
    """Position of the first byte behind the text."""


class _Cut(Struct, frozen=True):
    """Bytes chosen for a window."""

    raw: bytes
    text: str
    stopped_by: StoppedBy


async def read_window(fetch: Fetch, head: bytes, offset: int, limit: int | None) -> Window:
    """Lines from `offset` (from 1) on, at most `limit`, MAX_LINES and MAX_BYTES of UTF-8.

    head: the first CHUNK_BYTES of the file, fetched already; fewer when the file is shorter.
    """
    fetch = _from_head(fetch, head)
    position, lines_before = await line_start(fetch, offset)
    raw = await fetch(position, MAX_BYTES + 1)
    if not raw:
        return Window("", offset, offset - 1, lines_before, "end", 0, position)
    wanted = min(limit or MAX_LINES, MAX_LINES)
    cut = _cut(raw, wanted, "limit" if limit and limit <= MAX_LINES else "lines")
    end = position + len(cut.raw)
    newlines = lines_before + cut.raw.count(b"\n")
    is_unfinished = not cut.raw.endswith(b"\n")
    after = await _count_after(fetch, end)
    if after is None:
        total = None
    elif after.is_empty:
        total = newlines + is_unfinished
    else:
        total = newlines + after.newlines + after.is_unfinished
    is_all = after is not None and after.is_empty
    replaced = cut.text.count("\ufffd") - cut.raw.count(b"\xef\xbf\xbd")
    last = newlines + is_unfinished
    return Window(cut.text, offset, last, total, "end" if is_all else cut.stopped_by, replaced, end)


def _from_head(fetch: Fetch, head: bytes) -> Fetch:
    """Take from the head what it holds, all of it when it is the whole file."""

    async def fetch_rest(position: int, length: int) -> bytes:
        if position + length <= len(head) or len(head) < CHUNK_BYTES:
            return head[position : position + length]
        return await fetch(position, length)

    return fetch_rest


async def whole_text(fetch: Fetch, offset: int, limit: int | None) -> str | None:
    """Lines from `offset` on as a program takes them, all or `limit`; None beyond MAX_WHOLE_BYTES."""
    position, _ = await line_start(fetch, offset)
    raw = await fetch(position, MAX_WHOLE_BYTES + 1)
    if limit is not None:
        rest = raw.split(b"\n", limit)
        raw = raw[: len(raw) - len(rest[-1])] if len(rest) > limit else raw
    if len(raw) > MAX_WHOLE_BYTES:
        return None
    return raw.decode("utf-8", "replace").replace("\0", "\ufffd")


async def line_start(fetch: Fetch, line: int) -> tuple[int, int]:
    """Where a line starts and how many lines are before; the file's end and its lines when it is shorter."""
    position, before = 0, 0
    while before < line - 1:
        chunk = await fetch(position, CHUNK_BYTES)
        count = chunk.count(b"\n")
        if before + count >= line - 1:
            rest = chunk.split(b"\n", line - 1 - before)[-1]
            return position + len(chunk) - len(rest), line - 1
        position += len(chunk)
        before += count
        if len(chunk) < CHUNK_BYTES:
            return position, before + await _is_unfinished(fetch, position)
    return position, before


async def _is_unfinished(fetch: Fetch, end: int) -> bool:
    """Whether the file has a last line without a line end."""
    return end > 0 and await fetch(end - 1, 1) != b"\n"


def _cut(raw: bytes, wanted: int, by_lines: StoppedBy) -> _Cut:
    """The first `wanted` lines, fewer when they are too long, a part of the first when it alone is."""
    rest = raw.split(b"\n", wanted)
    region, stopped_by = raw, by_lines
    if len(rest) > wanted:
        region = raw[: len(raw) - len(rest[-1])]
    elif len(raw) > MAX_BYTES:
        whole_lines = raw.rfind(b"\n") + 1
        region, stopped_by = (raw[:whole_lines], "bytes") if whole_lines else (raw[:MAX_BYTES], "line")
    text, used = codecs.utf_8_decode(region, "replace", stopped_by != "line")
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if len(region) > MAX_BYTES // 3 and "\ufffd" in text and len(text.encode()) > MAX_BYTES + 1:
        return _shorter(region[: MAX_BYTES // 3])  # each replaced byte takes three
    return _Cut(region[:used], text, stopped_by)


def _shorter(raw: bytes) -> _Cut:
    """Cut again, where replacement characters make the text much longer than the bytes."""
    whole_lines = raw.rfind(b"\n") + 1
    region = raw[:whole_lines] or raw
    text, used = codecs.utf_8_decode(region, "replace", bool(whole_lines))
    return _Cut(region[:used], text.replace("\0", "\ufffd"), "bytes" if whole_lines else "line")


class _After(Struct, frozen=True):
    """What follows a window."""

    newlines: int
    is_unfinished: bool
    is_empty: bool


async def _count_after(fetch: Fetch, position: int) -> _After | None:
    """Count up to the end of the file; None when that is too far."""
    start, newlines, last = position, 0, b"\n"
    while position - start < COUNT_BYTES:
        chunk = await fetch(position, CHUNK_BYTES)
        newlines += chunk.count(b"\n")
        last = chunk[-1:] or last
        position += len(chunk)
        if len(chunk) < CHUNK_BYTES:
            return _After(newlines, last != b"\n", position == start)
    return None
