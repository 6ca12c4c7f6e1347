"""Durations as people write them."""

FACTORS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
DIGITS = set("0123456789")


def _number(word, text):
    if not word or not set(word) <= DIGITS:
        raise ValueError("no duration: %r" % text)
    return int(word)


def seconds(text):
    """Whole seconds. Raises: ValueError."""
    if ":" in text:
        parts = text.strip().split(":")
        numbers = [_number(part, text) for part in parts]
        if len(parts) > 3 or any(len(part) != 2 or int(part) > 59 for part in parts[1:]):
            raise ValueError("no duration: %r" % text)
        total = 0
        for number in numbers:
            total = total * 60 + number
        return total
    if set(text.strip()) <= DIGITS:
        return _number(text.strip(), text)
    total, digits, allowed = 0, "", "dhms"
    for char in text:
        unit = char.lower() if char.isascii() else char
        if char in DIGITS:
            digits += char
        elif unit and unit in allowed:
            total += _number(digits, text) * FACTORS[unit]
            digits, allowed = "", allowed[allowed.index(unit) + 1 :]
        elif char.isspace() and not digits:
            continue
        else:
            raise ValueError("no duration: %r" % text)
    if digits or allowed == "dhms":
        raise ValueError("no duration: %r" % text)
    return total
