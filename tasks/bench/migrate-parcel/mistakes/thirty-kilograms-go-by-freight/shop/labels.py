"""Address labels."""

from vendor.parcel2 import Label


def labels(orders):
    return "\n\n".join(Label(o["name"], o["street"], o["city"].upper()).render("\n").strip() for o in orders)
