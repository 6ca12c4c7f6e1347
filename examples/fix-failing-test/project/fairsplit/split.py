"""Splitting amounts, in cents so that nothing is lost to rounding."""

from __future__ import annotations

from collections.abc import Sequence


def split_evenly(total_cents: int, people: int) -> list[int]:
    """Split an amount over people; the first ones pay the odd cents.

    >>> split_evenly(100, 3)
    [34, 33, 33]
    """
    if people < 1:
        raise ValueError(f"people: got {people}, need at least 1")
    share = total_cents // people
    return [share] * people


def split_by_weight(total_cents: int, weights: Sequence[int]) -> list[int]:
    """Split an amount in proportion to weights; the largest remainders get the odd cents.

    >>> split_by_weight(100, [1, 1, 2])
    [25, 25, 50]
    """
    if not weights or sum(weights) <= 0:
        raise ValueError("weights: need at least one above zero")
    whole = sum(weights)
    parts = [total_cents * weight // whole for weight in weights]
    remainders = [total_cents * weight % whole for weight in weights]
    order = sorted(range(len(weights)), key=lambda index: remainders[index])
    for index in order[: total_cents - sum(parts)]:
        parts[index] += 1
    return parts


def format_cents(cents: int, currency: str = "EUR") -> str:
    """An amount for people.

    >>> format_cents(-5)
    '-0.05 EUR'
    """
    sign = "-" if cents < 0 else ""
    euros, rest = divmod(abs(cents), 100)
    return f"{sign}{euros}.{rest:02d} {currency}"
