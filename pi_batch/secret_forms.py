"""The encodings in which a secret value may turn up, as sequences of cells.

Source: RFC 4648 (base64, base16), RFC 3986 (percent-encoding), RFC 8259 (JSON), the HTML standard.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

from msgspec import Struct

SEPARATORS = " \t\r\n:"
"""What may stand between the characters of wrapped base64 and spaced hexadecimal."""

URL_SAFE_SETS = ("", "/", "!'()*", ";,/?:@&=+$#!'()*", "~!*'();:@&=+$,/?#[]")
"""What Python's quote, JavaScript's encodeURIComponent and encodeURI, and curl leave as it is."""


class Form(Struct, frozen=True):
    """One encoding of one value."""

    cells: tuple[str, ...]
    """One cell a character: the characters that may stand there."""
    is_spaced: bool = False
    """True when separators may stand between the cells."""

    def as_utf8(self) -> Form:
        """The same form for bytes of UTF-8 read as Latin-1."""
        if all(cell.isascii() for cell in self.cells):
            return self
        text = "".join(self.cells).encode("utf-8", "surrogatepass").decode("latin-1")
        return Form(tuple(text), self.is_spaced)


def forms_of(value: str) -> Iterator[Form]:
    """Every form of a value; some may be equal."""
    yield Form(tuple(value))
    for text in _escaped(value):
        yield Form(tuple(text))
    data = value.encode("utf-8", "surrogatepass")
    yield from _percent(value)
    yield from _base64(data)
    yield Form(tuple(_either_case(char) for char in data.hex()), is_spaced=True)


def _escaped(value: str) -> Iterator[str]:
    """Escaped for JSON, with and without non-ASCII and `/` escaped, once and twice; for HTML."""
    for ensure_ascii in (True, False):
        once = json.dumps(value, ensure_ascii=ensure_ascii)[1:-1]
        twice = json.dumps(once, ensure_ascii=ensure_ascii)[1:-1]
        yield from (once, once.replace("/", "\\/"), twice)
        yield _upper_escapes(once)
    yield html.escape(value, quote=True)
    yield html.escape(value, quote=False)
    yield html.escape(value, quote=True).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")


def _upper_escapes(text: str) -> str:
    r"""JSON text with the digits of its \u escapes in upper case."""
    parts = text.split("\\u")
    return parts[0] + "".join("\\u" + part[:4].upper() + part[4:] for part in parts[1:])


def _percent(value: str) -> Iterator[Form]:
    encoded = {quote(value, safe=safe, errors="replace") for safe in URL_SAFE_SETS}
    encoded.add(quote_plus(value, errors="replace"))
    encoded.add(quote(quote(value, safe="", errors="replace"), safe=""))
    for text in encoded:
        cells = list(text)
        for index, char in enumerate(text):
            if char == "%":
                cells[index + 1 : index + 3] = [_either_case(digit) for digit in text[index + 1 : index + 3]]
        yield Form(tuple(cells))


def _base64(data: bytes) -> Iterator[Form]:
    """The characters that the value alone decides at each alignment, and the ends that it may have.

    A character that shares its bits with the bytes before or after is left out: it shows at most four bits.
    """
    for before in range(3):
        text = base64.b64encode(b"\0" * before + data).decode("ascii")
        first = (0, 2, 3)[before]
        padding = len(text) - len(text.rstrip("="))
        whole = (before + len(data)) * 8 // 6
        for end in {whole, len(text) - padding, len(text)}:
            cells = tuple(_either_alphabet(char) for char in text[first:end])
            yield Form(cells, is_spaced=True)


def _either_case(digit: str) -> str:
    return digit if digit.isdigit() else digit.lower() + digit.upper()


def _either_alphabet(char: str) -> str:
    return {"+": "+-", "/": "/_"}.get(char, char)
