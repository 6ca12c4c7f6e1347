"""What a ride costs, in cents."""

TARIFFS = {
    "adult": {"zones": {1: 280, 2: 390, 3: 510}, "more": 95, "night": 120, "card": 75},
    "senior": {"zones": {1: 190, 2: 260}, "more": 80, "night": 120, "card": 90},
    "child": {"zones": {1: 140, 2: 140}, "more": 50, "night": 60, "card": 50},
    "dog": {"zones": {1: 150, 2: 150, 3: 150, 4: 150, 5: 200}, "more": 0, "night": 0, "card": 100},
}
_WHOLE = 100


def fare(zones, kind, is_night=False, has_card=False):
    if type(zones) is bool or not isinstance(zones, int):
        raise TypeError(f"zones: {zones!r}")
    if zones < 1:
        raise ValueError("at least one zone")
    try:
        tariff = TARIFFS[kind]
    except (KeyError, TypeError):
        raise ValueError(f"unknown kind: {kind!r}") from None
    last = max(tariff["zones"])
    price = tariff["zones"][min(zones, last)] + tariff["more"] * max(zones - last, 0)
    price += (0, tariff["night"])[bool(is_night)]
    return price * (_WHOLE, tariff["card"])[bool(has_card)] // _WHOLE
