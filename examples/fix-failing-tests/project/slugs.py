"""Turn titles into the last part of an address."""

import itertools
import unicodedata
from collections.abc import Collection


def slug(title: str, max_length: int = 60) -> str:
    """`Crème brûlée, twice!` becomes `creme-brulee-twice`."""
    plain = unicodedata.normalize("NFC", title).encode("ascii", "ignore").decode()
    words = "".join(char if char.isalnum() else " " for char in plain.lower()).split()
    return shorten("-".join(words), max_length)


def shorten(text: str, max_length: int) -> str:
    """A slug cut between words; a first word that is too long by itself is cut within."""
    if len(text) <= max_length:
        return text
    return text[:max_length].rpartition("-")[0]


def unique(text: str, taken: Collection[str]) -> str:
    """The slug itself, or with the first number from 2 on that is not taken."""
    if text not in taken:
        return text
    numbered = (f"{text}-{number}" for number in itertools.count(1))
    return next(candidate for candidate in numbered if candidate not in taken)
