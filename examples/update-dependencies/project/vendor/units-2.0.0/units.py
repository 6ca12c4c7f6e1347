"""units 2.0.0: amounts as people read them."""

_DECIMAL = ("", "k", "M", "G", "T")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti")


def format_amount(amount, *, unit, binary=False):
    """`1500` becomes `1.5 kB`, with binary `1.46 KiB`."""
    base, prefixes = (1024, _BINARY) if binary else (1000, _DECIMAL)
    step = 0
    while amount >= base and step < len(prefixes) - 1:
        amount, step = amount / base, step + 1
    return f"{amount:.3g} {prefixes[step]}{unit}"
