"""Durations as people write them."""

import re

_UNITS = re.compile(r"(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)?", re.ASCII | re.IGNORECASE)
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):([0-5]\d)", re.ASCII)
_FACTORS = (86400, 3600, 60, 1)


def seconds(text):
    """Whole seconds. Raises: ValueError."""
    words = text.strip()
    if re.fullmatch(r"[0-9]+", words):
        return int(words)
    clock = _CLOCK.fullmatch(words)
    if clock:
        hours, minutes, rest = clock.groups()
        if hours is None or re.fullmatch(r"[0-5]\d", minutes, re.ASCII):
            return int(hours or 0) * 3600 + int(minutes) * 60 + int(rest)
    units = _UNITS.fullmatch(words) if words else None
    if units:
        return sum(int(number or 0) * factor for number, factor in zip(units.groups(), _FACTORS))
    raise ValueError(f"not a duration: {text!r}")
