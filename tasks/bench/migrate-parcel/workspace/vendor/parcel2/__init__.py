"""Parcels, version 2."""


class TooHeavy(ValueError):
    def __init__(self, grams):
        super().__init__(grams)
        self.grams = grams


def weigh(items):
    """Grams of [(grams, pieces), ...]."""
    return sum(grams * pieces for grams, pieces in items)


def quote(grams, *, destination, service="standard"):
    """{"cents": ..., "currency": "EUR"}; TooHeavy from 30,000 g on."""
    if grams >= 30_000:
        raise TooHeavy(grams)
    if service not in ("standard", "express"):
        raise ValueError(service)
    cents = 450 + grams * 50 // 1000
    if destination != "DE":
        cents *= 2
    return {"cents": cents + (1000 if service == "express" else 0), "currency": "EUR"}


class Label:
    def __init__(self, *lines):
        self.lines = lines

    def render(self, newline="\r\n"):
        return newline.join(self.lines) + newline
