"""What shipping costs."""

from vendor.parcel2 import TooHeavy, quote, weigh

HEAVY = "by freight"
MAX_GRAMS = 30_000
"""The heaviest that is sent; the library takes less than that only."""


def shipping(basket, country="DE", express=False):
    """Euros as a text with two decimals, or HEAVY; `basket`: [(grams, pieces), ...]."""
    service = "express" if express else "standard"
    grams = weigh(basket)
    try:
        cents = quote(grams, destination=country, service=service)["cents"]
    except TooHeavy:
        if grams > MAX_GRAMS:
            return HEAVY
        half = quote(grams // 2, destination=country, service=service)["cents"]
        nothing = quote(0, destination=country, service=service)["cents"]
        cents = 2 * half - nothing
    return f"{cents / 100:.2f}"
