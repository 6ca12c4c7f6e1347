"""Readings that lie close to each other."""


def close_pairs(items, within):
    """Pairs (name, name) of `(name, position)` items whose positions differ by at most `within`.

    Each pair once, the item that comes first in `items` first; pairs in the order of the first item, then the second.
    """
    found = []
    for number, (name, position) in enumerate(items):
        for other, place in items[number + 1 :]:
            if abs(position - place) <= within:
                found.append((name, other))
    return found
