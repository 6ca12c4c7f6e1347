"""What a ride costs, in cents."""


def fare(zones, kind, is_night=False, has_card=False):
    if not isinstance(zones, int) or isinstance(zones, bool):
        raise TypeError(f"zones: {zones!r}")
    if zones < 1:
        raise ValueError("at least one zone")
    if kind == "adult":
        if zones == 1:
            price = 280
        elif zones == 2:
            price = 390
        elif zones == 3:
            price = 510
        else:
            price = 510 + (zones - 3) * 95
        if is_night:
            price += 120
    elif kind == "child":
        if zones <= 2:
            price = 140
        else:
            price = 140 + (zones - 2) * 50
        if is_night:
            price += 60
    elif kind == "dog":
        price = 150
        if zones > 4:
            price = 200
    elif kind == "senior":
        if zones == 1:
            price = 190
        elif zones == 2:
            price = 260
        else:
            price = 260 + (zones - 2) * 80
        if is_night:
            price += 120
    else:
        raise ValueError(f"unknown kind: {kind!r}")
    if has_card:
        if kind == "adult":
            price = price * 75 // 100
        elif kind == "senior":
            price = price * 90 // 100
        elif kind == "child":
            price = price * 50 // 100
    return price
