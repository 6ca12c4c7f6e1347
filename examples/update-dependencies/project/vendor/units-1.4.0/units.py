"""units 1.4.0: amounts as people read them."""

_PREFIXES = ("", "k", "M", "G", "T")


def human(amount, unit="B"):
    """`1500` becomes `1.5 kB`."""
    step = 0
    while amount >= 1000 and step < len(_PREFIXES) - 1:
        amount, step = amount / 1000, step + 1
    return f"{amount:.3g} {_PREFIXES[step]}{unit}"
