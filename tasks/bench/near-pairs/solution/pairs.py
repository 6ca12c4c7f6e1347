"""Readings that lie close to each other."""


def close_pairs(items, within):
    """Pairs (name, name) of `(name, position)` items whose positions differ by at most `within`.

    Each pair once, the item that comes first in `items` first; pairs in the order of the first item, then the second.
    """
    order = sorted(range(len(items)), key=lambda number: items[number][1])
    found = []
    for place, number in enumerate(order):
        position = items[number][1]
        for other in order[place + 1 :] if place + 1 < len(order) else ():
            if not items[other][1] - position <= within:
                break
            found.append((min(number, other), max(number, other)))
    return [(items[first][0], items[second][0]) for first, second in sorted(found)]
