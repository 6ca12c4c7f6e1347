"""Address labels."""

import vendor.parcel1 as parcel


def labels(orders):
    """One text for all orders, a blank line between two."""
    return "\n\n".join(parcel.label(o["name"], o["street"], o["city"]) for o in orders)
