"""Which models are worth their money: no other is as good for less, or better for the same."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Offer(Struct, frozen=True):
    """What a model costs and what it gives."""

    name: str
    cost: float
    rate: float


def frontier(offers: Sequence[Offer]) -> tuple[Offer, ...]:
    """The offers that no other beats in one of cost and rate without losing in the other; the cheapest first.

    Offers that are alike in both stand side by side.
    """
    best: list[Offer] = []
    for offer in sorted(offers, key=lambda one: (one.cost, -one.rate, one.name)):
        is_twin = bool(best) and (best[-1].cost, best[-1].rate) == (offer.cost, offer.rate)
        if not best or offer.rate > best[-1].rate or is_twin:
            best.append(offer)
    return tuple(best)
