import random

from lab import probe, same, true

NUMBER = """
class Work(list):
    def __setitem__(self, at, count):
        if count > 400_000:
            raise SystemExit("400,000 comparisons and subtractions, and not done")
        list.__setitem__(self, at, count)
work = Work([0])
class Number:
    __slots__ = ("value",)
    def __init__(self, value): self.value = value
    def __eq__(self, other):
        work[0] += 1
        return self.value == getattr(other, "value", other)
    def __lt__(self, other):
        work[0] += 1
        return self.value < getattr(other, "value", other)
    def __le__(self, other):
        work[0] += 1
        return self.value <= getattr(other, "value", other)
    def __gt__(self, other):
        work[0] += 1
        return self.value > getattr(other, "value", other)
    def __ge__(self, other):
        work[0] += 1
        return self.value >= getattr(other, "value", other)
    def __sub__(self, other):
        work[0] += 1
        return Number(self.value - getattr(other, "value", other))
    def __rsub__(self, other):
        work[0] += 1
        return Number(other - self.value)
    def __add__(self, other):
        work[0] += 1
        return Number(self.value + getattr(other, "value", other))
    __radd__ = __add__
    def __neg__(self): return Number(-self.value)
    def __abs__(self): return Number(abs(self.value))
    def __hash__(self): raise TypeError("positions are not to be hashed")
    def __float__(self): raise TypeError("positions are not to be rounded")
    __int__ = __round__ = __trunc__ = __index__ = __float__
"""


def slow(items, within):
    return [[a, b] for n, (a, x) in enumerate(items) for b, y in items[n + 1 :] if abs(x - y) <= within]


def check_the_same_pairs_in_the_same_order():
    chance = random.Random(5)
    cases = [([], 1), ([["a", 1]], 0), ([["a", 1], ["a", 1], ["b", 1]], 0), ([["x", 5], ["y", 2], ["z", 8]], 3),
             ([["x", 5], ["y", 2]], -1), ([["x", 1]] * 4, 0)]
    for size in (5, 30, 120):
        for within in (0, 1, 7, 1000):
            cases.append(([[f"n{chance.randint(0, 9)}", chance.randint(-60, 60)] for _ in range(size)], within))
    found = probe(f"from pairs import close_pairs\ngive([close_pairs([tuple(i) for i in items], w) for items, w in {cases!r}])")
    for (items, within), pairs in zip(cases, found):
        same(pairs, slow(items, within), f"{len(items)} items within {within}")


def check_exact_numbers_stay_exact():
    same(probe("""
from fractions import Fraction as F
from decimal import Decimal as D
from pairs import close_pairs
big = 10 ** 30
give([close_pairs([("a", F(1, 3)), ("b", F(2, 3)), ("c", F(1))], F(1, 3)),
      close_pairs([("a", D("0.1")), ("b", D("0.4"))], D("0.3")),
      close_pairs([("a", big), ("b", big + 2), ("c", big + 1)], 1)])
"""), [[["a", "b"], ["b", "c"]], [["a", "b"]], [["a", "c"], ["b", "c"]]], "fractions, decimals, large numbers")


def check_the_work_is_bounded():
    for size, spread, within in ((4000, 4000, 1), (2000, 10**6, 3), (300, 40, 2)):
        work, pairs = probe(NUMBER + f"""
import random
from pairs import close_pairs
chance = random.Random({size})
items = [(str(n), Number(chance.randint(0, {spread}))) for n in range({size})]
found = close_pairs(items, {within})
give([work[0], len(found)])
""", timeout_s=120)
        limit = 3 * size * size.bit_length() + 10 * pairs + 100
        true(work <= limit, f"{size} items, {pairs} pairs: {work} comparisons and subtractions, at most {limit}")


def check_what_is_given_is_left_alone():
    same(probe("""
from pairs import close_pairs
items = [("b", 2), ("a", 1)]
close_pairs(items, 5)
give([items, close_pairs(tuple(items), 5)])
"""), [[["b", 2], ["a", 1]], [["b", "a"]]], "the list")
