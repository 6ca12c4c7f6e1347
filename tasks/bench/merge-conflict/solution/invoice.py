"""Invoices."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def _rounded(amount):
    return amount.quantize(CENT, ROUND_HALF_UP)


def line_total(pieces, price, percent_off=0):
    """With the percentage taken off, rounded to cents, half up. Raises: TypeError for floats."""
    if isinstance(price, float):
        raise TypeError("prices are Decimals")
    return _rounded(pieces * price * (100 - percent_off) / 100)


def total(lines, shipping=Decimal(0)):
    """The sum of (pieces, price[, percent off]) lines, each rounded, and shipping. Raises: TypeError for floats."""
    if isinstance(shipping, float):
        raise TypeError("shipping is a Decimal")
    return _rounded(sum((line_total(*line) for line in lines), Decimal(0)) + shipping)


def describe(lines):
    """One text line a line of the invoice."""
    return [f"{line[0]} x {line[1]}" + (f" -{line[2]}%" if len(line) > 2 and line[2] else "") for line in lines]
