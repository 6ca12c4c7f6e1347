"""Known secret values hidden from texts, bytes, JSON values and streams, in whatever encoding they appear.

A value is looked for as it is, in base64 (standard and URL-safe, at each of the three alignments, padded or
not, wrapped over lines or not), in hexadecimal (both cases, with or without separators), URL-encoded by the
usual encoders, escaped for JSON (once and twice) and for HTML; and so is each line of a value of several
lines. Of overlapping finds nothing is left: their union becomes one `***`. Values of fewer than 8 characters
hide nothing: they would tear ordinary text apart.

How: one compiled regular expression over the first characters of every form finds places worth a look; the
forms that begin there are then compared cell by cell. Text without secrets costs one scan in C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from pi_batch.secret_forms import SEPARATORS, Form, forms_of

MASK = "***"
MIN_SECRET_CHARS = 8
LEAD_CELLS = 5
"""How many characters of a form the first search compares."""
MAX_SEPARATORS = 8
"""Separators in a row that a wrapped or spaced form may hold: CR, LF and an indent."""

SECRET_NAME = re.compile(
    r"(?:^|_)(?:API)?KEY$|(?:API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION|AUTH)_?KEY(?:_ID)?$|TOKEN$"
    r"|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|_PASS$|_PWD$|_PAT$|_AUTH$|AUTH_CONFIG$|_DSN$"
    r"|WEBHOOK(?:_URL)?$|CONNECTION_?STRING$|^ACTIONS_.*TOKEN"
)
NOT_SECRET_NAME = re.compile(
    r"(?:_DIR|_FILE|_PATH|_SOCK|_HOME|_STORE|_HELPER|_LENGTH|_TTL|_NAME|_TYPE|_ENABLED|(?<!WEBHOOK)_URL)$"
    r"|^(?:OLD)?PWD$"
    r"|^GOOGLE_APPLICATION_CREDENTIALS$"
)
"""Names that only say where a secret is, how long it is or what it is called."""
WELL_KNOWN = frozenset({"postgres", "password", "changeme", "minioadmin", "rabbitmq", "localhost"})
"""Default passwords of test services: no secret, and words of the code under test."""


def secret_names(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables whose names say that their value is a secret, sorted; empty ones left out."""
    return tuple(sorted(name for name, value in environ.items() if value and _is_secret_name(name.upper())))


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of `secret_names`, and the passwords inside URLs of all variables, but well-known ones."""
    values = [environ[name] for name in secret_names(environ)]
    for value in environ.values():
        if "://" in value and "@" in value:
            values += _url_passwords(value)
    return tuple(value for value in dict.fromkeys(values) if value not in WELL_KNOWN)


def _is_secret_name(name: str) -> bool:
    return SECRET_NAME.search(name) is not None and NOT_SECRET_NAME.search(name) is None


def _url_passwords(value: str) -> list[str]:
    try:
        parts = urlsplit(value.strip())
    except ValueError:
        return []
    password = parts.password or ""
    return [password, unquote(password)] if password else []


class MaskStream:
    """A mask for bytes that come in pieces: the output joined is `mask_bytes` of the input joined."""

    def __init__(self, finder: _Finder | None) -> None:
        self._finder = finder
        self._held = ""
        self._covered = 0
        """How many characters at the start of `_held` stand for a `***` that was given out already."""

    def feed(self, data: bytes) -> bytes:
        """Take a chunk; give all of it that cannot be a part of a secret."""
        if self._finder is None:
            return data
        return self._give(data.decode("latin-1"), is_last=False)

    def flush(self) -> bytes:
        """Give what is still held back; the stream is at its start again."""
        return b"" if self._finder is None else self._give("", is_last=True)

    def _give(self, text: str, *, is_last: bool) -> bytes:
        assert self._finder is not None  # noqa: S101 -- both callers have looked
        text = self._held + text
        spans, hold = self._finder.scan(text, is_last=is_last)
        masked, end = _cut(text, spans, hold, self._covered)
        self._held, self._covered = text[hold:], end - hold
        return masked.encode("latin-1")


class Masker:
    """Hides a set of values; without any that is long enough, everything passes untouched."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values for form in _forms_of_value(value)}
        as_bytes = {form.as_utf8() for form in forms}
        self._text = _Finder(forms) if forms else None
        self._bytes = self._text if as_bytes == forms else _Finder(as_bytes)

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to hide."""
        return self._text is None

    def mask(self, text: str) -> str:
        """The text with every secret replaced by `***`."""
        return text if self._text is None else self._text.mask(text)

    def mask_settled(self, text: str) -> str:
        """The text with every secret replaced, without an end that may be the beginning of one.

        For what is shown while more is coming: a secret of which the last characters are missing is no find.
        """
        if self._text is None:
            return text
        spans, hold = self._text.scan(text, is_last=False)
        return _cut(text, spans, hold, 0)[0]

    def mask_bytes(self, data: bytes) -> bytes:
        """The bytes with every secret replaced by `***`; other bytes are kept, valid UTF-8 or not."""
        if self._bytes is None:
            return data
        return self._bytes.mask(data.decode("latin-1")).encode("latin-1")

    def mask_json(self, value: Any) -> Any:
        """A JSON value with its strings and keys masked; a number that is itself a secret becomes `***`."""
        if self._text is None:
            return value
        match value:
            case str():
                return self._text.mask(value)
            case None | bool():  # what is plain comes first: whether a thing is a Mapping takes long to say
                return value
            case int() | float():
                return MASK if self._text.mask(str(value)) == MASK else value
            case Mapping():
                return {self._text.mask(str(key)): self.mask_json(item) for key, item in value.items()}
            case list() | tuple():
                return [self.mask_json(item) for item in value]
            case _:
                return value

    def stream(self) -> MaskStream:
        """A mask for one stream of bytes."""
        return MaskStream(self._bytes)

    def __repr__(self) -> str:
        return f"Masker(is_empty={self.is_empty})"


class _Finder:
    """Finds every place in a text that one of the forms covers."""

    def __init__(self, forms: Iterable[Form]) -> None:
        self._by_first: dict[str, list[Form]] = {}
        for form in sorted(forms, key=lambda form: form.cells):
            for first in form.cells[0]:
                self._by_first.setdefault(first, []).append(form)
        self._whole = re.compile(_lead_pattern(self._by_first, at_end=False))
        self._partial = re.compile(_lead_pattern(self._by_first, at_end=True))

    def mask(self, text: str) -> str:
        """The text with the union of all finds replaced."""
        if self._whole.search(text) is None:
            return text
        spans, hold = self.scan(text, is_last=True)
        return _cut(text, spans, hold, 0)[0]

    def scan(self, text: str, *, is_last: bool) -> tuple[list[tuple[int, int]], int]:
        """All finds as (start, end), and from where on the text may belong to a form not yet whole."""
        lead = self._whole if is_last else self._partial
        spans: list[tuple[int, int]] = []
        start = 0
        while (found := lead.search(text, start)) is not None:
            start = found.start()
            end, is_open = self._longest(text, start)
            if is_open and not is_last:
                return spans, start
            if end > start:
                spans.append((start, end))
            start += 1
        return spans, len(text)

    def _longest(self, text: str, start: int) -> tuple[int, bool]:
        """Where the longest form that is whole at `start` ends, and whether one still goes on at the end."""
        end, is_open = start, False
        for form in self._by_first.get(text[start], ()):
            found = _walk(form, text, start)
            if found is None:
                is_open = True
            else:
                end = max(end, found)
        return end, is_open


def _walk(form: Form, text: str, start: int) -> int | None:
    """The end of a form that begins at `start`, `start` if it does not, None if the text ends first."""
    if not form.is_spaced:
        piece = text[start : start + len(form.cells)]
        if any(char not in cell for char, cell in zip(piece, form.cells, strict=False)):
            return start
        return start + len(form.cells) if len(piece) == len(form.cells) else None
    at = start
    for index, cell in enumerate(form.cells):
        limit = at + MAX_SEPARATORS
        while index and at < len(text) and at < limit and text[at] in SEPARATORS:
            at += 1
        if at == len(text):
            return None
        if text[at] not in cell:
            return start
        at += 1
    return at


def _cut(text: str, spans: list[tuple[int, int]], hold: int, covered: int) -> tuple[str, int]:
    """The text up to `hold` with overlapping spans as one `***`, and where the last span ends (≥ hold).

    The first `covered` characters belong to a span whose `***` was given out before.
    """
    parts: list[str] = []
    done = covered
    for start, end in spans:
        if start >= done:
            parts += (text[done:start], MASK)
        done = max(done, end)
    parts.append(text[done:hold])
    return "".join(parts), max(done, hold)


def _lead_pattern(by_first: Mapping[str, list[Form]], *, at_end: bool) -> str:
    """An alternation, by first character, of how the forms begin; `at_end`: or of what the text ends with.

    Each branch begins with a literal, which lets the engine skip all other characters at once.
    """
    branches = []
    for first, forms in by_first.items():
        rests = sorted({_lead_rest(form, at_end=at_end) for form in forms})
        branches.append(f"{re.escape(first)}(?:{'|'.join(rests)})")
    return "|".join(branches)


def _lead_rest(form: Form, *, at_end: bool) -> str:
    gap = f"[{SEPARATORS}]{{0,{MAX_SEPARATORS}}}" if form.is_spaced else ""
    pattern = ""
    for cell in reversed(form.cells[1:LEAD_CELLS]):
        char = re.escape(cell) if len(cell) == 1 else f"[{re.escape(cell)}]"
        pattern = rf"{gap}(?:\Z|{char}{pattern})" if at_end else f"{gap}{char}{pattern}"
    return pattern


def _forms_of_value(value: str) -> Iterable[Form]:
    """The forms of a value and of each of its lines that is worth hiding by itself."""
    pieces = {value, value.strip(), *(line.strip() for line in value.split("\n"))}
    for piece in pieces:
        if len(piece) >= MIN_SECRET_CHARS and not _is_armour(piece):
            yield from forms_of(piece)


def _is_armour(line: str) -> bool:
    """True for lines that are in every file of their kind: PEM's frames, rulers, brackets."""
    return re.fullmatch(r"-{5}(?:BEGIN|END) [A-Z0-9 ]+-{5}|[\W_]*", line) is not None
