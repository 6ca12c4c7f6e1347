import random

from lab import probe, same, unchanged

CHANCE = random.Random(23)
CASES = [[(CHANCE.randint(0, 30), CHANCE.randint(0, 30)) for _ in range(CHANCE.randint(0, 6))] for _ in range(150)]
CASES = [[(min(a, b), max(a, b)) for a, b in case] for case in CASES]


def runs(taken, first, last, is_taken):
    found, at = [], first
    while at < last:
        if (at in taken) == is_taken:
            start = at
            while at < last and (at in taken) == is_taken:
                at += 1
            found.append([start, at])
        else:
            at += 1
    return found


def check_busy():
    found = probe(f"from bookings import busy; give([busy(case) for case in {CASES!r}])")
    for case, one in zip(CASES, found):
        taken = {minute for start, end in case for minute in range(start, end)}
        same(one, runs(taken, 0, 40, True), f"busy({case})")


def check_free():
    for opening, closing in ((5, 20), (0, 31), (12, 12), (29, 60)):
        found = probe(f"from bookings import free; give([free(case, {opening}, {closing}) for case in {CASES!r}])")
        for case, one in zip(CASES, found):
            taken = {minute for start, end in case for minute in range(start, end)}
            same(one, runs(taken, opening, closing, False), f"free({case}, {opening}, {closing})")


def check_fits():
    asked = [(start, start + length) for start in range(3, 24, 3) for length in (1, 4)]
    found = probe(f"""
from bookings import fits
give([[fits(case, start, end, 5, 20) for start, end in {asked!r}] for case in {CASES!r}])
""")
    for case, row in zip(CASES, found):
        taken = {minute for start, end in case for minute in range(start, end)}
        for (start, end), one in zip(asked, row):
            wanted = 5 <= start and end <= 20 and not taken & set(range(start, end))
            same(one, wanted, f"fits({case}, {start}, {end}, 5, 20)")


def check_nothing_that_was_given_changes():
    same(probe("""
from bookings import busy, free
given = [(5, 9), (1, 3), (2, 4)]
busy(given); free(given, 0, 10)
give([given, busy(iter(given))])
"""), [[[5, 9], [1, 3], [2, 4]], [[1, 4], [5, 9]]], "the list")
    unchanged("test_calendar.py")
