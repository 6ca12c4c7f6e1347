"""Parcels, version 1."""


class ParcelError(Exception):
    pass


def weigh(items):
    """Kilograms of [(kilograms, pieces), ...]."""
    return sum(kilograms * pieces for kilograms, pieces in items)


def price(kilograms, country="DE", express=False):
    """Euros; ParcelError above 30 kg."""
    if kilograms > 30:
        raise ParcelError("too heavy")
    euros = 4.5 + 0.5 * kilograms
    if country != "DE":
        euros *= 2
    return euros + (10 if express else 0)


def label(name, street, city):
    return name + "\n" + street + "\n" + city.upper()
