"""Why an old text was not found: the lines that come nearest, and what is different in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MAX_LOOKED_AT = 20_000
"""Lines of the file in which something near is looked for."""
MAX_LINE_CHARS = 300
MAX_SHOWN_LINES = 8
MIN_LIKENESS = 0.5

_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(r"^\s*\d+(?::|\t|\s*[|→])\s?", re.MULTILINE)
_FOLDED = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-"),
    **dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
}


def missing_hint(text: str, old: str) -> str:
    """What to tell a model whose old text is not in the file; empty when nothing comes near.

    text: the file's, undecodable bytes as lone surrogates. Bounded in time and length.
    """
    if "\ufffd" in old:
        return "It holds \ufffd, which stands for bytes that are no text: choose old text without it."
    unnumbered = _NUMBERED.sub("", old)
    if unnumbered != old and unnumbered.strip() and unnumbered in text:
        return "It begins its lines with line numbers, which the file does not have: leave them out."
    unescaped = old.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    if unescaped != old and unescaped in text:
        return "It is escaped once too often: the file has real line breaks, tabs or quotes there."
    lines = [line.removesuffix("\r") for line in text.split("\n")[:MAX_LOOKED_AT]]
    wanted = [line.removesuffix("\r") for line in old.strip("\n").split("\n")]
    for fold, difference in ((_blanks_folded, "indentation or blanks"), (_folded, "")):
        at = _run(list(map(fold, lines)), list(map(fold, wanted)))
        if at is not None:
            cause = f"only {difference} differ" if difference else _different_character(lines[at:], wanted)
            return f"{_shown(lines, at, len(wanted))}\n({cause}; copy the text from the file exactly)"
    at = _nearest(lines, wanted)
    return "" if at is None else _shown(lines, at, len(wanted))


def _shown(lines: Sequence[str], at: int, count: int) -> str:
    """Lines of the file as they are."""
    shown = lines[at : at + min(count, MAX_SHOWN_LINES)]
    numbers = f"line {at + 1}" if len(shown) == 1 else f"lines {at + 1}-{at + len(shown)}"
    text = "\n".join(line[:MAX_LINE_CHARS] for line in shown)
    return f"Nearest is {numbers}:\n{text.encode('utf-8', 'replace').decode()}"


def _blanks_folded(line: str) -> str:
    return " ".join(line.split())


def _folded(line: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", line.translate(_FOLDED)).split())


def _run(lines: list[str], wanted: list[str]) -> int | None:
    """Where lines stand that are the same; the last line may be only begun and the first only ended."""
    if not any(wanted):
        return None
    count = len(wanted)
    if count == 1:
        return next((at for at, line in enumerate(lines) if wanted[0] in line), None)
    middle = wanted[1:-1]
    for at in range(len(lines) - count + 1):
        if (
            lines[at].endswith(wanted[0])
            and lines[at + count - 1].startswith(wanted[-1])
            and lines[at + 1 : at + count - 1] == middle
        ):
            return at
    return None


def _different_character(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """The first character of the old text that the file writes differently."""
    for line, want in zip(lines, wanted, strict=False):
        for char in want:
            if char not in line:
                twins = (other for other in line if other != char and _folded(other) == _folded(char))
                twin = next(twins, None)
                if twin is not None:
                    return f"the file has {_named(twin)} where the old text has {_named(char)}"
    return "the file writes some characters differently (quotes, dashes, blanks or accents)"


def _named(char: str) -> str:
    return f"{char!r} (U+{ord(char):04X} {unicodedata.name(char, 'unnamed')})"


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the most telling line of the old text comes nearest, by the words in common."""
    key = max(wanted, key=len)
    words = set(_WORD.findall(key[:MAX_LINE_CHARS]))
    if not words:
        return None
    best, best_at = MIN_LIKENESS, None
    for at, line in enumerate(lines):
        found = set(_WORD.findall(line[:MAX_LINE_CHARS]))
        likeness = len(words & found) / len(words | found)
        if likeness > best:
            best, best_at = likeness, at
    return None if best_at is None else max(best_at - list(wanted).index(key), 0)
