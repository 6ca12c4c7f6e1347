"""Text for a model or a report: made readable, cut to size.

Terminal output is data from somebody else. `readable` turns it into what a person would have seen at
the end, in text that every JSON encoder, model service and report takes: no escape codes, no control
characters but newline and tab, no lone surrogates. All of it runs in linear time on hostile input.

Source: ECMA-48 (5th edition), and the control sequences that xterm documents.
"""

from __future__ import annotations

import re

from msgspec import Struct

MAX_LINES = 2000
MAX_BYTES = 50 * 1024

# A byte that is not UTF-8 is a lone surrogate \udc80-\udcff while the text is worked on ("surrogateescape").
_END = "\x07\x18\x1a\x1b\x80-\x9f\udc80-\udc9f"
_CODES = re.compile(
    rf"""
    (?:
        # Strings that name a title, a link, a picture: up to their terminator. Those that carry a payload
        # may hold newlines; of one that never ends, only its line goes, so that no output is lost to it.
        (?: \x1b[P_] | [\x90\x9f] )
            (?: [^{_END}]*+ (?: \x1b\\ | \x9c ) | [^\n{_END}]*+ \x07? )
      | (?: \x1b[]X^] | [\x98\x9d\x9e] )
            [^\n{_END}]*+ (?: \x07 | \x1b\\ | \x9c )?
        # Control sequences: parameters, intermediates, one final character; a broken one as far as it goes.
      | (?: \x1b\[ | \x9b )
            [0-?]*+ [ -/]*+ [@-~]?
        # The same as single bytes, only where they can be nothing else: old encodings use these bytes too.
      | \udc9b (?: [0-?]++ [@-~] | [HJKm] )
      | [\udc90\udc98\udc9d-\udc9f] [ -~]*+ (?: \x07 | \x1b\\ | \udc9c )
        # Character sets and other sequences with intermediates, then two-character sequences.
      | \x1b [ -/]++ [0-~]?
      | \x1b [0-~]?
    )++
    """,
    re.VERBOSE,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")
_HIDDEN = "\x07\x0e\x0f\x18\x1a\x1b"
"""Controls that leave nothing to see: bell, character set shifts, the ends of broken sequences."""
_SHOWN = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0)),
    **dict.fromkeys(map(ord, _HIDDEN)),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
"""Other controls as their Unicode pictures (NUL is ␀), so that separators stay separators."""


class Truncated(Struct, frozen=True):
    """A text cut to a number of lines and bytes; says nothing itself about the cut."""

    text: str
    """A prefix of the whole, or a suffix of it."""
    is_truncated: bool
    total_lines: int
    """Of the whole; a last line counts without its newline too."""
    total_bytes: int
    """Of the whole, in UTF-8."""
    kept_lines: int
    """In `text`, a cut line included."""
    is_line_cut: bool = False
    """True when a single line was too long, so that only a part of it is kept."""


def readable(data: bytes | str) -> str:
    r"""The text that a terminal would show at the end, without any control character but \n and \t.

    Escape codes are taken out; what a carriage return overwrites is gone, and what a backspace takes back;
    CRLF is a newline. Bytes that are not UTF-8, and lone surrogates, become U+FFFD; NUL and the like are
    shown as their pictures. Applied twice it changes nothing more.
    """
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else _without_surrogates(data)
    if _CONTROLS.search(text) is None:
        return text
    text = _CODES.sub("", text)
    if "\r" in text or "\b" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return _CONTROLS.sub(_shown, text)


def truncate_head(text: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncated:
    """Keep the first lines that fit; of a first line that is too long alone, its beginning.

    No newline is left at the end of what is cut; never cuts inside a character.
    """
    whole, total_lines = _measured(text)
    if total_lines <= max_lines and len(whole) <= max_bytes:
        return Truncated(text, False, total_lines, len(whole), total_lines)
    end = kept_lines = 0
    while kept_lines < max_lines:
        newline = whole.find(b"\n", end)
        if newline < 0 or newline > max_bytes:
            break
        end, kept_lines = newline + 1, kept_lines + 1
    if kept_lines or max_lines <= 0:
        return _cut(whole[: max(end - 1, 0)], whole, total_lines, kept_lines)
    end = max(max_bytes, 0)
    while end and whole[end] & 0xC0 == 0x80:
        end -= 1
    return _cut(whole[:end], whole, total_lines, 1 if end else 0, is_line_cut=True)


def truncate_tail(text: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncated:
    """Keep the last lines that fit; of a last line that is too long alone, its end.

    A newline at the end stays; never cuts inside a character.
    """
    whole, total_lines = _measured(text)
    if total_lines <= max_lines and len(whole) <= max_bytes:
        return Truncated(text, False, total_lines, len(whole), total_lines)
    first_allowed = max(len(whole) - max(max_bytes, 0), 0)
    start = len(whole)
    line_end = start - 1 if whole.endswith(b"\n") else start
    kept_lines = 0
    while kept_lines < max_lines and line_end >= 0:
        newline = whole.rfind(b"\n", 0, line_end)
        if newline + 1 < first_allowed:
            break
        start, line_end, kept_lines = newline + 1, newline, kept_lines + 1
    if kept_lines or max_lines <= 0:
        return _cut(whole[start:], whole, total_lines, kept_lines)
    start = first_allowed
    while start < len(whole) and whole[start] & 0xC0 == 0x80:
        start += 1
    return _cut(whole[start:], whole, total_lines, 1 if start < len(whole) else 0, is_line_cut=True)


def one_line(text: str, max_chars: int = 300) -> str:
    """Readable text on one line: white space collapsed, an ellipsis where it was cut."""
    line = " ".join(readable(text).split())
    return line if len(line) <= max_chars else line[: max(max_chars - 1, 0)].rstrip() + "…"[:max_chars]


# --- reading --------------------------------------------------------------------------------------


def _without_surrogates(text: str) -> str:
    """Surrogate pairs as the characters that they stand for; lone ones stay for now."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _last_state(line: str) -> str:
    """What a line shows after its carriage returns: the last piece that holds anything."""
    for piece in reversed(line.split("\r")):
        if shown := _without_backspaces(piece):
            return shown
    return ""


def _shown(controls: re.Match[str]) -> str:
    """Pictures of control characters, or nothing."""
    return controls[0].translate(_SHOWN)


def _without_backspaces(line: str) -> str:
    """A line with every backspace and the character before it gone; read backwards, so linear."""
    if "\b" not in line:
        return line
    pieces = []
    taken_back = 0
    for piece in reversed(line.split("\b")):
        if taken_back < len(piece):
            pieces.append(piece[: len(piece) - taken_back])
            taken_back = 0
        else:
            taken_back -= len(piece)
        taken_back += 1
    return "".join(reversed(pieces))


# --- cutting --------------------------------------------------------------------------------------


def _measured(text: str) -> tuple[bytes, int]:
    """The text in UTF-8 (lone surrogates pass), and its lines."""
    whole = text.encode("utf-8", "surrogatepass")
    return whole, whole.count(b"\n") + (1 if whole and not whole.endswith(b"\n") else 0)


def _cut(
    kept: bytes, whole: bytes, total_lines: int, kept_lines: int, *, is_line_cut: bool = False
) -> Truncated:
    """The part that is kept, with its measures."""
    text = kept.decode("utf-8", "surrogatepass")
    return Truncated(text, True, total_lines, len(whole), kept_lines, is_line_cut)
