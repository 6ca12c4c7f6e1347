"""Matching lines of files, by Python's own regular expressions: what grep uses where there is no ripgrep."""

# os.path and open: a search starts a process, and pathlib would be a quarter of what that costs.
# ruff: noqa: PTH123

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Callable, Iterator

SNIFF_BYTES = 8192
"""A NUL within so many bytes makes a file binary; it is passed over."""
MAX_LINE_CHARS = 500

_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_POSIX_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "blank": r" \t",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
    "punct": r"!-/:-@\[-`{-~",
}


class PatternError(ValueError):
    """A pattern that is no regular expression; the text says why."""


class Line:
    """A line of a file that matched, or stands beside one that did."""

    __slots__ = ("is_match", "match_at", "number", "text")

    def __init__(self, number: int, text: str, match_at: int | None) -> None:
        self.number = number
        self.text = text
        self.match_at = match_at or 0
        self.is_match = match_at is not None

    def shown(self) -> str:
        """The text, cut around the match where it is long."""
        if len(self.text) <= MAX_LINE_CHARS:
            return self.text
        start = max(0, min(self.match_at - 100, len(self.text) - MAX_LINE_CHARS))
        end = start + MAX_LINE_CHARS
        rest = len(self.text) - end
        return f"{'…' if start else ''}{self.text[start:end]}{'…' if rest else ''} [line cut]"


Search = Callable[[str], "int | None"]
"""Where a line matches."""


def compiled(pattern: str, *, is_literal: bool, ignores_case: bool) -> Search:
    """A search over one line. Raises: PatternError."""
    if "\n" in pattern or (not is_literal and re.search(r"(?<!\\)(?:\\\\)*\\n", pattern)):
        raise PatternError(
            "files are searched line by line, so a line break can't match; search for one line"
        )
    if is_literal and not ignores_case:

        def find(line: str) -> int | None:
            at = line.find(pattern)
            return None if at < 0 else at

        return find
    text = re.escape(pattern) if is_literal else _without_posix_classes(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            regex = re.compile(text, re.IGNORECASE if ignores_case else 0)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise PatternError(str(error)) from error

    def search(line: str) -> int | None:
        match = regex.search(line)
        return None if match is None else match.start()

    return search


def matching_lines(path: str, search: Search, context: int, most: int) -> Iterator[Line]:
    """The lines of a text file that match, at most so many, with lines around them. Raises: OSError."""
    recent: list[Line] = []
    wanted_after = 0
    for number, text in enumerate(_lines(path), 1):
        at = search(text) if most else None
        if at is not None:
            yield from recent
            recent = []
            yield Line(number, text, at)
            most -= 1
            wanted_after = context
        elif wanted_after:
            wanted_after -= 1
            yield Line(number, text, None)
        elif not most:
            return
        elif context:
            recent = (
                [*recent[-context + 1 :], Line(number, text, None)]
                if context > 1
                else [Line(number, text, None)]
            )


def _without_posix_classes(pattern: str) -> str:
    return re.sub(r"\[:(\w+):\]", lambda match: _POSIX_CLASSES.get(match.group(1), match.group()), pattern)


def _lines(path: str) -> Iterator[str]:
    """Decoded lines without their ends; none for a binary file."""
    with open(path, "rb") as file:
        head = file.read(SNIFF_BYTES)
        wide = next((codec for bom, codec in _WIDE if head.startswith(bom)), None)
        if wide is not None:
            text = (head + file.read()).decode(wide, "replace")
            yield from _stripped(text.split("\n"))
            return
        if b"\0" in head:
            return
        file.seek(len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0)
        for raw in file:
            yield raw.rstrip(b"\n").removesuffix(b"\r").decode("utf-8", "replace")


def _stripped(lines: list[str]) -> Iterator[str]:
    if lines and not lines[-1]:
        lines.pop()
    for line in lines:
        yield line.removesuffix("\r")
