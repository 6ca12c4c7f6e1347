import random

from lab import DATA, probe, same, true

BEFORE = {}
exec(DATA["start/lru.py"], BEFORE)


def played(make, steps):
    gone = []
    cache = make(steps[0], on_evict=lambda key, value: gone.append([key, value]))
    rows = []
    for name, *arguments in steps[1:]:
        try:
            given = getattr(cache, name)(*arguments)
        except (KeyError, ValueError) as error:
            given = ["raised", type(error).__name__, str(error)]
        rows.append([given, cache.keys(), len(cache), list(gone)])
    return rows


SOURCE = """
def played(make, steps):
    gone = []
    cache = make(steps[0], on_evict=lambda key, value: gone.append([key, value]))
    rows = []
    for name, *arguments in steps[1:]:
        try:
            given = getattr(cache, name)(*arguments)
        except (KeyError, ValueError) as error:
            given = ["raised", type(error).__name__, str(error)]
        rows.append([given, cache.keys(), len(cache), list(gone)])
    return rows
"""


def check_it_behaves_as_before():
    chance = random.Random(11)
    runs = []
    for size in (1, 2, 3, 7):
        steps = [size]
        for _ in range(120):
            key = chance.choice("abcdefghij")
            steps.append(chance.choice([["get", key], ["get", key, "-"], ["put", key, chance.randint(0, 99)],
                                        ["put", key, None], ["forget", key], ["resize", chance.randint(0, 5)]]))
        runs.append(steps)
    found = probe(SOURCE + f"from lru import Cache\ngive([played(Cache, steps) for steps in {runs!r}])")
    for steps, rows in zip(runs, found):
        for number, (row, wanted) in enumerate(zip(rows, played(BEFORE["Cache"], steps))):
            same(row, wanted, f"size {steps[0]}, after {steps[1:number + 2][-3:]}")


def check_each_call_costs_a_constant():
    found = probe("""
from lru import Cache
work = [0]
class Key:
    def __init__(self, name): self.name = name
    def __eq__(self, other):
        work[0] += 1
        return isinstance(other, Key) and self.name == other.name
    def __hash__(self):
        work[0] += 1
        return hash(self.name)
worst = {}
for size in (10, 800):
    cache = Cache(size)
    for n in range(size):
        cache.put(Key(n), n)
    for name, call in (("get", lambda n: cache.get(Key(n))), ("miss", lambda n: cache.get(Key(-n - 1))),
                       ("put", lambda n: cache.put(Key(n), 0)), ("new", lambda n: cache.put(Key(10 ** 6 + n), 0)),
                       ("forget", lambda n: cache.forget(Key(10 ** 6 + n)))):
        work[0] = 0
        for n in range(0, min(size, 300)):
            call(n)
        worst[f"{name} of {size}"] = work[0] / min(size, 300)
give(worst)
""", timeout_s=60)
    for what, work in found.items():
        true(work <= 8, f"{what}: {work} comparisons and hashes of keys a call, at most 8")


def check_moves_cost_a_constant_too():
    found = probe("""
import sys
from lru import Cache
rows = []
for size in (100, 1600):
    cache = Cache(size)
    for n in range(size):
        cache.put(n, n)
    lines = [0]
    def trace(frame, event, argument):
        lines[0] += 1
        return trace
    sys.settrace(trace)
    for n in range(50):
        cache.get(n); cache.put(n + 20, 1)
    sys.settrace(None)
    rows.append(lines[0])
give(rows)
""")
    true(found[1] <= 2 * found[0], f"lines run for 100 calls at 100 and at 1600 entries: {found}")


def check_the_callback_may_use_the_cache():
    found = probe("""
from lru import Cache
seen = []
def gone(key, value):
    seen.append([key, len(cache), cache.get(key, "gone"), cache.keys()])
    if key == "a":
        cache.put("again", 1)
cache = Cache(2, gone)
for key in "abc":
    cache.put(key, key)
cache.resize(1)
give([seen, cache.keys()])
""")
    old = []

    def gone(key, value):
        old.append([key, len(cache), cache.get(key, "gone"), cache.keys()])
        if key == "a":
            cache.put("again", 1)

    cache = BEFORE["Cache"](2, gone)
    for key in "abc":
        cache.put(key, key)
    cache.resize(1)
    same(found, [old, cache.keys()], "what the callback sees")
