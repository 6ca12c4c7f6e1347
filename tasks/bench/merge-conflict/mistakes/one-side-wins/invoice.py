"""Invoices."""

from decimal import ROUND_HALF_UP, Decimal


def line_total(pieces, price, percent_off=0):
    if isinstance(price, float):
        raise TypeError("prices are Decimals")
    return pieces * price * (100 - percent_off) / 100


def total(lines, shipping=Decimal(0)):
    whole = sum((line_total(*line) for line in lines), Decimal(0)) + shipping
    return whole.quantize(Decimal("0.01"), ROUND_HALF_UP)


def describe(lines):
    return [f"{line[0]} x {line[1]}" + (f" -{line[2]}%" if len(line) > 2 and line[2] else "") for line in lines]
