"""What shipping costs."""

from vendor.parcel1 import ParcelError, price, weigh

HEAVY = "by freight"


def shipping(basket, country="DE", express=False):
    """Euros as a text with two decimals, or HEAVY; `basket`: [(grams, pieces), ...]."""
    kilograms = weigh([(grams / 1000, pieces) for grams, pieces in basket])
    try:
        return f"{price(kilograms, country, express):.2f}"
    except ParcelError:
        return HEAVY
