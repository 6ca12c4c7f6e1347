"""Address labels."""

from vendor.parcel2 import Label


def labels(orders):
    """One text for all orders, a blank line between two."""
    texts = (Label(o["name"], o["street"], o["city"].upper()).render("\n") for o in orders)
    return "\n".join(texts).removesuffix("\n")
