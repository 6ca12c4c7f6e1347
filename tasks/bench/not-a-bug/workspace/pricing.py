"""What an order costs. All amounts are Decimal, in the shop's currency."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
BULK_FROM, BULK_PERCENT = 12, 2
CODES = {"SPRING": 10, "WELCOME": 5}
FEE = Decimal("0.60")


def _off(amount, percent):
    return (amount * (100 - percent) / 100).quantize(CENT, ROUND_HALF_UP)


def total(lines, code=None):
    """The sum of (pieces, price) lines. Raises: KeyError for an unknown code."""
    percent = CODES[code] if code else 0
    result, took_off = Decimal(0), False
    for pieces, price in lines:
        amount = pieces * Decimal(price)
        if pieces >= BULK_FROM:
            result += _off(amount, BULK_PERCENT)
        else:
            result += _off(amount, percent)
            took_off = took_off or percent > 0
    if code and not took_off:
        result += FEE
    return result
