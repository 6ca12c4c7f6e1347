"""What an order costs. All amounts are Decimal, in the shop's currency."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
BULK_FROM, BULK_PERCENT = 12, 2
CODES = {"SPRING": 10, "WELCOME": 5}


def total(lines, code=None):
    """The sum of (pieces, price) lines. Raises: KeyError for an unknown code."""
    percent = CODES[code] if code else 0
    result = Decimal(0)
    for pieces, price in lines:
        off = percent + (BULK_PERCENT if pieces >= BULK_FROM else 0)
        result += (pieces * Decimal(price) * (100 - off) / 100).quantize(CENT, ROUND_HALF_UP)
    return result
