"""Durations as people write them, in seconds."""

import re

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")


def parse(text, *, default_unit=None):
    """Seconds: `1h 30m` is 5400. A number alone needs a default unit. Raises: ValueError."""
    text = text.strip().lower()
    if default_unit is not None and re.fullmatch(r"\d+(\.\d+)?", text):
        text += default_unit
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).strip():
        raise ValueError(f"no duration: {text!r}")
    return sum(float(number) * UNITS[unit] for number, unit in parts)


def write(seconds, *, parts=2):
    """The largest units that say it, at most `parts` of them."""
    words = []
    left = round(seconds)
    for unit in ("d", "h", "m", "s"):
        count, left = divmod(left, UNITS[unit])
        if count and len(words) < parts:
            words.append(f"{count}{unit}")
    return " ".join(words) or "0s"
