r"""Where the old text of an edit stands in a file's bytes, and which bytes take its place.

All matching is on bytes, so that nothing but the matched span can change. The texts of an edit are
encoded as the file is: UTF-16 and UTF-32 by their byte order mark, everything else as UTF-8, and as
Latin-1 where the file is not valid UTF-8 and the old text is found in that form only. Text with "\n" also
matches "\r\n" when it does not match exactly; lines that are the same but for blanks at their ends match
when there is just one such place.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Iterator

from msgspec import Struct

MAX_PLACES = 1000
"""Counted no further when all that matters is that there is more than one."""
MAX_REPLACED = 1_000_000
"""Places of one replace_all."""

_NEWLINE = re.compile(r"\r\n|\n")
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32-le", 4),
    (codecs.BOM_UTF32_BE, "utf-32-be", 4),
    (codecs.BOM_UTF16_LE, "utf-16-le", 2),
    (codecs.BOM_UTF16_BE, "utf-16-be", 2),
)


class Coding(Struct, frozen=True):
    """How a file's characters are bytes."""

    codec: str
    unit: int
    """Bytes of the smallest character; a place begins at a multiple of it."""
    is_clean: bool
    """False when the bytes are not valid in the codec."""

    def decoded(self, raw: bytes) -> str:
        """Text that encodes back to the same bytes."""
        return raw.decode(self.codec, "surrogateescape" if self.unit == 1 else "surrogatepass")


class Places(Struct, frozen=True):
    """Where an old text stands."""

    spans: tuple[tuple[int, int], ...]
    """(start, end), in order; those that overlap too."""
    coding: Coding
    """The one in which it was found."""
    is_exact: bool
    """False when line ends or blanks at line ends differ."""
    ignores_blanks: bool = False


def coding_of(content: bytes) -> Coding:
    """The file's coding by its byte order mark and bytes."""
    for bom, codec, unit in _WIDE:
        if content.startswith(bom):
            return Coding(codec, unit, is_clean=True)
    try:
        content.decode()
    except UnicodeDecodeError:
        return Coding("utf-8", 1, is_clean=False)
    return Coding("utf-8", 1, is_clean=True)


def places_of(content: bytes, old: str, coding: Coding, *, is_all: bool = False) -> Places:
    """Every place of an old text: exact ones, else with other line ends, else ignoring blanks at line ends.

    is_all: places that do not overlap, for replacing each.
    """
    codings = [coding]
    if not coding.is_clean and not old.isascii():
        codings.append(Coding("latin-1", 1, is_clean=False))
    for form in codings:
        needle = _encoded(old, form)
        if needle is None:
            continue
        spans = tuple(_exact(content, needle, form.unit, is_all))
        if spans:
            return Places(spans, form, is_exact=True)
        if "\n" in old and ("\r\n" in old or "\r\n".encode(form.codec) in content):
            spans = tuple(_any_newlines(content, old, form, is_all))
            if spans:
                return Places(spans, form, is_exact=False)
    if coding.unit == 1:
        return Places(tuple(_ignoring_blanks(content, old)), coding, is_exact=False, ignores_blanks=True)
    return Places((), coding, is_exact=False)


def new_bytes(content: bytes, span: tuple[int, int], old: str, new: str, places: Places) -> bytes | None:
    r"""What takes a span's place: the new text, its "\n" as the line ends of the span, or of the file there.

    Text that was matched exactly with "\r\n" in it says itself what its line ends are. None when the text
    cannot be written in the file's coding.
    """
    if not places.coding.is_clean and places.coding.codec == "utf-8" and old.isascii() and not new.isascii():
        return None
    if not (places.is_exact and "\r\n" in old):
        new = _with_newlines_of(content, span, new, places)
    return _encoded(new, places.coding)


def _encoded(text: str, coding: Coding) -> bytes | None:
    try:
        return text.encode(coding.codec)
    except UnicodeEncodeError:
        return None


# --- finding --------------------------------------------------------------------------------------


def _exact(content: bytes, needle: bytes, unit: int, is_all: bool) -> Iterator[tuple[int, int]]:
    found, count = content.find(needle), 0
    while found >= 0 and count < (MAX_REPLACED if is_all else MAX_PLACES):
        step = 1
        if found % unit == 0:
            yield found, found + len(needle)
            count += 1
            step = len(needle) if is_all else unit
        found = content.find(needle, found + step)


def _any_newlines(content: bytes, old: str, coding: Coding, is_all: bool) -> Iterator[tuple[int, int]]:
    carriage_return, newline = (re.escape(char.encode(coding.codec)) for char in "\r\n")
    any_newline = b"(?:%b%b|(?<!%b)%b)" % (carriage_return, newline, carriage_return, newline)
    pieces = (re.escape(piece.encode(coding.codec)) for piece in _NEWLINE.split(old))
    pattern = any_newline.join(pieces)
    regex = re.compile(pattern if is_all else b"(?=(%b))" % pattern)
    count = 0
    for match in regex.finditer(content):
        start, end = match.span(0 if is_all else 1)
        if start % coding.unit == 0:
            yield start, end
            count += 1
            if count >= (MAX_REPLACED if is_all else MAX_PLACES):
                return


def _ignoring_blanks(content: bytes, old: str) -> Iterator[tuple[int, int]]:
    """Runs of whole lines that are the old text's but for blanks at their ends."""
    lines = [line.rstrip(b" \t\r") for line in old.encode("utf-8", "surrogatepass").split(b"\n")]
    takes_last_newline = not lines[-1] and len(lines) > 1
    if takes_last_newline:
        lines.pop()
    if not any(lines):
        return
    starts = [0]
    starts.extend(match.end() for match in re.finditer(b"\n", content))
    starts.append(len(content) + 1)
    stripped = [content[start : end - 1].rstrip(b" \t\r") for start, end in itertools.pairwise(starts)]
    for first in range(len(stripped) - len(lines) + 1):
        if stripped[first] == lines[0] and stripped[first : first + len(lines)] == lines:
            end = starts[first + len(lines)] - 1  # of the last line, before its newline
            if takes_last_newline:
                if end == len(content):
                    continue
                end += 1
            elif content[end - 1 : end] == b"\r" and content[end : end + 1] == b"\n":
                end -= 1
            yield starts[first], end


# --- replacing ------------------------------------------------------------------------------------


def _with_newlines_of(content: bytes, span: tuple[int, int], new: str, places: Places) -> str:
    """The new text with line ends as in the span: lines that stay at its ends keep theirs."""
    coding = places.coding
    old = coding.decoded(content[slice(*span)])
    there = _NEWLINE.findall(old)
    usual = there[-1] if there else _newline_near(content, span, coding)
    if "\r\n" not in (usual, *there):
        return new if "\r\n" not in new or places.is_exact else new.replace("\r\n", "\n")
    old_lines, new_lines = _NEWLINE.split(old), _NEWLINE.split(new)
    wanted = _NEWLINE.findall(new)
    head = _same(old_lines, new_lines)
    tail = min(_same(old_lines[::-1], new_lines[::-1]), min(len(old_lines), len(new_lines)) - head)
    ends = []
    for position, newline in enumerate(wanted):
        from_end = len(wanted) - position
        if newline == "\r\n":
            ends.append(newline)
        elif position < min(head, len(there)):
            ends.append(there[position])
        elif from_end <= min(tail, len(there)):
            ends.append(there[-from_end])
        else:
            ends.append(there[min(head, len(there) - 1)] if there else usual)
    return "".join(line + end for line, end in zip(new_lines, [*ends, ""], strict=True))


def _same(one: list[str], other: list[str]) -> int:
    """How many lines at the front are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _newline_near(content: bytes, span: tuple[int, int], coding: Coding) -> str:
    """The line end of the line that a span stands in, of the line before where it is the last."""
    newline, carriage_return = "\n".encode(coding.codec), "\r".encode(coding.codec)
    found = content.find(newline, span[1])
    while found % coding.unit and found >= 0:
        found = content.find(newline, found + 1)
    if found < 0:
        found = content.rfind(newline, 0, span[0])
        while found % coding.unit and found >= 0:
            found = content.rfind(newline, 0, found + len(newline) - 1)
    before = content[max(found - coding.unit, 0) : max(found, 0)]
    return "\r\n" if before == carriage_return else "\n"
