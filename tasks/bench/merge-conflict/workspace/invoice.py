"""Invoices."""

from decimal import ROUND_HALF_UP, Decimal

<<<<<<< HEAD
CENT = Decimal("0.01")


def line_total(pieces, price):
    """Rounded to cents, half up. Raises: TypeError for floats."""
    if isinstance(price, float):
        raise TypeError("prices are Decimals")
    return (pieces * price).quantize(CENT, ROUND_HALF_UP)


def total(lines):
    """The sum of (pieces, price) lines, each rounded."""
    return sum((line_total(pieces, price) for pieces, price in lines), Decimal("0.00"))
=======

def line_total(pieces, price, percent_off=0):
    """With the percentage taken off."""
    return pieces * price * (100 - percent_off) / 100


def total(lines, shipping=Decimal(0)):
    """The sum of (pieces, price[, percent off]) lines and shipping, rounded to cents."""
    whole = sum(line_total(*line) for line in lines) + shipping
    return whole.quantize(Decimal("0.01"), ROUND_HALF_UP)


def describe(lines):
    """One text line a line of the invoice."""
    return [f"{line[0]} x {line[1]}" + (f" -{line[2]}%" if len(line) > 2 and line[2] else "") for line in lines]
>>>>>>> discounts
