"""What trials took: money, tokens, turns, seconds."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, fsum, isfinite

from msgspec import Struct


class Spread(Struct, frozen=True):
    """An amount over trials; None where it is not known."""

    known: int
    """Scored trials whose amount is known."""
    unknown: int
    """Scored trials whose amount is not."""
    mean: float | None
    """Of scored trials whose amount is known, as are median and p90."""
    median: float | None
    p90: float | None
    """Nine of ten trials took at most this."""
    total: float | None
    """Of all trials that ran, errors too; None where one is unknown: a sum of the rest would be too small."""
    per_solved: float | None
    """`total` for each trial that passed; None without one."""


def spread(amounts: Sequence[float | None], others: Sequence[float | None], solved: int) -> Spread:
    """An amount over scored trials and `others` that ran; None, NaN and infinity are unknown."""
    known = sorted(_known(amounts))
    every = [*known, *_known(others)]
    total = fsum(every) if len(every) == len(amounts) + len(others) else None
    return Spread(
        known=len(known),
        unknown=len(amounts) - len(known),
        mean=fsum(known) / len(known) if known else None,
        median=quantile(known, 0.5) if known else None,
        p90=quantile(known, 0.9) if known else None,
        total=total,
        per_solved=total / solved if total is not None and solved else None,
    )


def _known(amounts: Sequence[float | None]) -> list[float]:
    return [amount for amount in amounts if amount is not None and isfinite(amount)]


def quantile(ordered: Sequence[float], part: float) -> float:
    """The value below which `part` of a sorted, non-empty sequence lies, between neighbours by a line.

    Source: Hyndman and Fan 1996, definition 7; the default of numpy and R.
    """
    place = (len(ordered) - 1) * part
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
