"""How messages quote what they found: short, on one line, with the nearest right name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

QUOTED_CHARS: Final = 60
"""Longer texts are cut in messages."""
NEAREST_CHARS: Final = 60
"""Longer words are misspelt beyond recognition."""


def quoted(text: str) -> str:
    """A text in quotes, escaped to one line, cut where it is long."""
    return repr(text if len(text) <= QUOTED_CHARS else text[: QUOTED_CHARS - 3] + "...")


def printable(text: str) -> str:
    """A name as it is, or escaped where it would break a line or an encoder."""
    return text if text.isprintable() else repr(text)[1:-1]


def nearest(word: str, candidates: Iterable[str]) -> str:
    """`, did you mean 'x'?` where a name is close enough; empty otherwise."""
    if len(word) > NEAREST_CHARS:
        return ""
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return f", did you mean {by_folded[close[0]]!r}?" if close else ""


def listed(names: Iterable[str], *, limit: int = 20) -> str:
    """Names with commas, the rest counted."""
    known = list(names)
    more = f" and {len(known) - limit} more" if len(known) > limit else ""
    return ", ".join(known[:limit]) + more
