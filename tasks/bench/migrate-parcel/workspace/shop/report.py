"""The most expensive shipments of a day."""

from shop.shipping import HEAVY, shipping


def dearest(baskets, number=3):
    """[(price text, index)], dearest first, those by freight before all others."""
    prices = [(shipping(basket), index) for index, basket in enumerate(baskets)]
    return sorted(prices, key=lambda pair: (pair[0] != HEAVY, -float(pair[0]) if pair[0] != HEAVY else 0))[:number]
