"""What a ride costs, in cents."""

TARIFFS = {
    # kind: prices of the first zones, each further zone, night, percent with a card
    "adult": ((280, 390, 510), 95, 120, 75),
    "child": ((140, 140), 50, 60, 50),
    "dog": ((150, 150, 150, 150, 200), 0, 0, 100),
    "senior": ((190, 260), 80, 120, 90),
}


def fare(zones, kind, is_night=False, has_card=False):
    if not isinstance(zones, int) or isinstance(zones, bool):
        raise TypeError(f"zones: {zones!r}")
    if zones < 1:
        raise ValueError("at least one zone")
    if kind not in TARIFFS:
        raise ValueError(f"unknown kind: {kind!r}")
    first, further, night, percent = TARIFFS[kind]
    price = first[min(zones, len(first)) - 1] + max(0, zones - len(first)) * further
    price += night * bool(is_night)
    return price * percent // 100 if has_card else price
