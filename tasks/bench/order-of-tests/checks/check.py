import itertools

from lab import PYTHON, probe, run, same, true, unchanged

NAMES = ("a_counts", "b_labels", "c_limit", "d_default_limit", "e_no_labels")


def check_each_test_passes_in_any_order():
    orders = [list(order) for order in itertools.permutations(NAMES)]
    found = probe(f"""
import unittest, test_counters
bad = []
for order in {orders!r}:
    suite = unittest.TestSuite(test_counters.CountersTest("test_" + name) for name in order)
    result = unittest.TestResult()
    suite.run(result)
    if not result.wasSuccessful() or result.testsRun != 5:
        bad.append(order)
give(bad[:3])
""")
    same(found, [], "orders in which a test fails")


def check_the_tests_are_as_they_were():
    unchanged("test_counters.py")
    done = run(*PYTHON, "-c", "import sys, unittest; sys.path.insert(0, '.'); unittest.main('test_counters')")
    true(done.code == 0, "python3 -m unittest passes")


def check_counters_share_nothing():
    same(probe("""
from counters import Counter, counter, snapshot, reset, _DEFAULTS
a, b = Counter("a"), Counter("b")
a.label("l").limit_to(3).add("x", 3)
rows = [b.options, b.history, sorted(b.seen), b.total, a.options, snapshot()]
mine, past = {"limit": 5, "labels": ["mine"]}, [("old", 1)]
c = Counter("c", mine, past)
c.label("more").add("y")
rows += [c.options, c.history]
d = Counter("d", {"limit": 1, "labels": ["k"]})
d.label("z")
rows += [Counter("e").options, _DEFAULTS]
give(rows)
"""), [
        {"limit": 10, "labels": []}, [], [], 0, {"limit": 3, "labels": ["l"]}, {"a": 3, "b": 0},
        {"limit": 5, "labels": ["mine", "more"]},
        [["old", 1], ["y", 1]], {"limit": 10, "labels": []}, {"limit": 10, "labels": []},
    ], "two counters, and the defaults")


def check_the_same_name_is_the_same_counter():
    same(probe("""
from counters import counter, reset, snapshot
counter("n").add("x")
again = counter("n").add("x")
reset()
give([again, snapshot(), counter("n").total])
"""), [2, {}, 0], "counter() and reset()")
