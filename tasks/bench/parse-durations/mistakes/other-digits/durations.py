"""Durations as people write them."""

import re


def seconds(text):
    """Whole seconds. Raises: ValueError."""
    words = text.strip()
    if words.isdigit():
        return int(words)
    clock = re.fullmatch(r"(?:(\d+):)?(\d+):(\d\d)", words)
    if clock and int(clock[3]) < 60 and (clock[1] is None or (int(clock[2]) < 60 and len(clock[2]) == 2)):
        return int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + int(clock[3])
    units = re.fullmatch(r"(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)?", words, re.I)
    if units and words:
        return sum(int(n or 0) * f for n, f in zip(units.groups(), (86400, 3600, 60, 1)))
    raise ValueError(f"not a duration: {text!r}")
