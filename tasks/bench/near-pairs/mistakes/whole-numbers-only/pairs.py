"""Readings that lie close to each other."""

from collections import defaultdict


def close_pairs(items, within):
    cells = defaultdict(list)
    width = max(int(within), 1)
    for number, (_, position) in enumerate(items):
        cells[int(position) // width].append(number)
    found = set()
    for cell, members in cells.items():
        near = cells.get(cell, []) + (cells[cell + 1] if cell + 1 in cells else [])
        for a in members:
            for b in near:
                if a != b and abs(items[a][1] - items[b][1]) <= within:
                    found.add((min(a, b), max(a, b)))
    return [(items[a][0], items[b][0]) for a, b in sorted(found)]
