from lab import PYTHON, probe, raised, run, same, true, unchanged

CLOCK = """
from store import Store
now = [100.0]
store = Store(lambda: now[0])
"""


def check_entries_expire_at_their_moment():
    found = probe(CLOCK + """
store.put("a", 1, ttl_s=5)
store.put("b", 2)
store.put("c", None, ttl_s=10)
rows = []
for moment in (100, 104.9, 105, 109.99, 110):
    now[0] = moment
    rows.append([store.get("a", "-"), store.get("c", "-"), len(store), "a" in store, "c" in store, store.keys()])
give(rows)
""")
    same(found, [
        [1, None, 3, True, True, ["a", "b", "c"]],
        [1, None, 3, True, True, ["a", "b", "c"]],
        ["-", None, 2, False, True, ["b", "c"]],
        ["-", None, 2, False, True, ["b", "c"]],
        ["-", "-", 1, False, False, ["b"]],
    ], "get, len, in, keys over time")


def check_putting_again_starts_anew():
    same(probe(CLOCK + """
store.put("a", 1, ttl_s=5); store.put("b", 1, ttl_s=5); store.put("x", 1)
now[0] = 104
store.put("a", 2, ttl_s=5); store.put("b", 2)
now[0] = 108
first = [store.get("a"), store.get("b")]
now[0] = 1000
store.put("x", 3, ttl_s=1)
second = [store.get("a"), store.get("b"), store.get("x")]
now[0] = 1001
give([first, second, store.keys()])
"""), [[2, 2], [None, 2, 3], ["b"]], "putting again")


def check_an_expired_key_was_never_put():
    found = probe(CLOCK + """
store.put("a", 1, ttl_s=1); store.put("b", 2); store.put("c", 3)
now[0] = 102
gone = attempt(store.remove, "a")
store.put("a", 9)
give([gone, store.keys()])
""")
    raised(found[0], "KeyError", "remove of an expired key")
    same(found[1], ["b", "c", "a"], "order: it was first put now")


def check_a_ttl_that_is_none_changes_nothing():
    found = probe(CLOCK + """
store.put("a", 1, ttl_s=5)
give([attempt(store.put, "a", 2, ttl_s=0), attempt(store.put, "z", 2, ttl_s=-1), store.get("a"), store.keys()])
""")
    raised(found[0], "ValueError", "ttl_s=0")
    raised(found[1], "ValueError", "ttl_s=-1")
    same(found[2:], [1, ["a"]], "the store after refused puts")


def check_purge_lets_go():
    same(probe(CLOCK + """
import gc, weakref
class Value: pass
values = [Value() for _ in range(3)]
alive = [weakref.ref(value) for value in values]
for number, value in enumerate(values):
    store.put(number, value, ttl_s=number + 1)
value = None
values.clear()
now[0] = 102
dropped = store.purge()
gc.collect()
give([dropped, [one() is not None for one in alive], store.purge(), store.keys()])
"""), [2, [False, False, True], 0, [2]], "purge")


def check_the_existing_tests_pass():
    unchanged("test_store.py")
    done = run(*PYTHON, "-c", "import sys, unittest; sys.path.insert(0, '.'); unittest.main('test_store')")
    true(done.code == 0 and "Ran 2 tests" in done.err, f"the tests pass: {done.err[-200:]}")
