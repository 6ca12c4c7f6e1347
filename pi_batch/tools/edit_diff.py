"""A unified diff of replaced spans, computed from the lines around them and not from the whole file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

CONTEXT_LINES = 3
MAX_SPANS = 200
"""Replaced spans that the diff shows."""
MAX_COMPARED_LINES = 600
"""Longer stretches are shown as one block taken out and one put in."""


class Replacement(Struct, frozen=True):
    """Bytes that take a span's place."""

    start: int
    end: int
    new: bytes


class Diff(Struct, frozen=True):
    """What changed, for a reader."""

    text: str
    first_changed_line: int
    """In the new file, from 1."""
    is_complete: bool


class _Region(Struct, frozen=True):
    """Whole lines around one or more replacements."""

    start: int
    end: int
    replacements: tuple[Replacement, ...]


def replaced(content: bytes, replacements: Iterable[Replacement]) -> bytes:
    """The content with each span replaced; spans are in order and do not overlap."""
    pieces, end = [], 0
    for replacement in replacements:
        pieces += [content[end : replacement.start], replacement.new]
        end = replacement.end
    return b"".join([*pieces, content[end:]])


def unified_diff(shown: str, content: bytes, replacements: Sequence[Replacement], codec: str) -> Diff:
    """The diff of a file from before to after; other codings than UTF-8 are shown as UTF-8."""
    kept = replacements[:MAX_SPANS]
    if codec != "utf-8":
        content, kept = _as_utf8(content, kept, codec)
    lines = [f"--- {shown}", f"+++ {shown}"]
    first_changed, shift = 0, 0
    counted_to, line = 0, 1
    for region in _regions(content, kept):
        line += content.count(b"\n", counted_to, region.start)
        counted_to = region.start
        old = _lines(content[region.start : region.end])
        inside = (
            Replacement(span.start - region.start, span.end - region.start, span.new)
            for span in region.replacements
        )
        new = _lines(replaced(content[region.start : region.end], inside))
        for group in _groups(old, new):
            lines += _hunk(group, old, new, line, line + shift)
            if not first_changed:
                first = next(opcode for opcode in group if opcode[0] != "equal")
                first_changed = line + shift + first[3]
        shift += len(new) - len(old)
    return Diff("\n".join(lines), first_changed or 1, len(kept) == len(replacements))


def _as_utf8(
    content: bytes, replacements: Sequence[Replacement], codec: str
) -> tuple[bytes, list[Replacement]]:
    """The same content and spans in UTF-8."""
    converted, spans, end = b"", [], 0

    def utf8(raw: bytes) -> bytes:
        return raw.decode(codec, "replace").encode("utf-8", "replace")

    for replacement in replacements:
        converted += utf8(content[end : replacement.start])
        start = len(converted)
        converted += utf8(content[replacement.start : replacement.end])
        spans.append(Replacement(start, len(converted), utf8(replacement.new)))
        end = replacement.end
    return converted + utf8(content[end:]), spans


def _regions(content: bytes, replacements: Sequence[Replacement]) -> Iterator[_Region]:
    """Lines around the spans, those that touch merged."""
    current: _Region | None = None
    for replacement in replacements:
        start, end = replacement.start, replacement.end
        for _ in range(CONTEXT_LINES + 1):
            start = content.rfind(b"\n", 0, max(start, 0))
        start += 1
        end = max(end - 1, replacement.start)
        for _ in range(CONTEXT_LINES + 1):
            found = content.find(b"\n", end)
            end = len(content) if found < 0 else found + 1
        if current is not None and start <= current.end:
            current = _Region(current.start, max(end, current.end), (*current.replacements, replacement))
            continue
        if current is not None:
            yield current
        current = _Region(start, end, (replacement,))
    if current is not None:
        yield current


def _lines(raw: bytes) -> list[str]:
    """Lines with their line end, the last one without where there is none."""
    pieces = raw.decode("utf-8", "replace").replace("\0", "\u2400").split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


_Opcode = tuple[str, int, int, int, int]


def _groups(old: list[str], new: list[str]) -> Iterator[list[_Opcode]]:
    if len(old) + len(new) <= MAX_COMPARED_LINES:
        yield from difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES)
        return
    head = _same(old, new)
    tail = min(_same(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    before, after = min(head, CONTEXT_LINES), min(tail, CONTEXT_LINES)
    old_end, new_end = len(old) - tail, len(new) - tail
    yield [
        ("equal", head - before, head, head - before, head),
        ("replace", head, old_end, head, new_end),
        ("equal", old_end, old_end + after, new_end, new_end + after),
    ]


def _same(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _hunk(
    group: list[_Opcode], old: list[str], new: list[str], old_line: int, new_line: int
) -> Iterator[str]:
    """One hunk; line numbers are those of the first line of `old` and `new`."""
    first, last = group[0], group[-1]
    old_range = _range(old_line + first[1], last[2] - first[1])
    new_range = _range(new_line + first[3], last[4] - first[3])
    yield f"@@ -{old_range} +{new_range} @@"
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            yield from _marked(" ", old[old_from:old_to])
        else:
            yield from _marked("-", old[old_from:old_to])
            yield from _marked("+", new[new_from:new_to])


def _marked(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield mark + line[:-1]
        else:
            yield mark + line
            yield "\\ No newline at end of file"


def _range(start: int, length: int) -> str:
    """As `diff` and `patch` write ranges: an empty one names the line before it."""
    if length == 1:
        return str(start)
    return f"{start - 1 if not length else start},{length}"
