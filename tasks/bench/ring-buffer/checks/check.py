from lab import probe, same, raised, unchanged


def check_every_size_and_count():
    found = probe("""
from ring import Ring
rows = []
for size in range(1, 6):
    ring = Ring(size)
    for number in range(13):
        ring.push(number * size)
        rows.append([len(ring), ring.items(), ring.last()])
give(rows)
""")
    wanted = []
    for size in range(1, 6):
        kept = []
        for number in range(13):
            kept = (kept + [number * size])[-size:]
            wanted.append([len(kept), kept, kept[-1]])
    same(found, wanted, "length, items and last after each push")


def check_none_is_an_item_and_empty_has_no_last():
    empty, items, last, bad = probe("""
from ring import Ring
ring = Ring(2)
empty = [attempt(ring.last), ring.items(), len(ring)]
ring.push(None)
give([empty, ring.items(), ring.last(), attempt(Ring, 0)])
""")
    raised(empty[0], "IndexError", "last() of an empty ring")
    same(empty[1:], [[], 0], "an empty ring")
    same([items, last], [[None], None], "a ring that holds None")
    raised(bad, "ValueError", "Ring(0)")


def check_the_tests_are_as_they_were():
    unchanged("test_ring.py")
