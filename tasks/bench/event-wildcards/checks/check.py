from lab import gave, probe, raised, same


def check_patterns():
    found = probe("""
from bus import Bus
patterns = ["a", "a.b", "*", "a.*", "*.b", "**", "a.**", "a.b.**", "*.*", "a.*.c", "*.**", "a.*.**"]
bus = Bus()
for pattern in patterns:
    bus.on(pattern, lambda pattern=pattern, **data: pattern)
give({name: bus.emit(name) for name in ("a", "b", "a.b", "a.b.c", "x.b", "a.x.c.d", "ab")})
""")
    same(found, {
        "a": ["a", "*", "**"], "b": ["*", "**"], "a.b": ["a.b", "a.*", "*.b", "**", "a.**", "*.*", "*.**"],
        "a.b.c": ["**", "a.**", "a.b.**", "a.*.c", "*.**", "a.*.**"], "x.b": ["*.b", "**", "*.*", "*.**"],
        "a.x.c.d": ["**", "a.**", "*.**", "a.*.**"], "ab": ["*", "**"],
    }, "which patterns fit")


def check_priorities_and_data():
    same(probe("""
from bus import Bus
bus = Bus()
for name, priority in (("p0", 0), ("p5", 5), ("p-1", -1), ("q5", 5), ("q0", 0)):
    bus.on("e" if name[0] == "p" else "*", lambda name=name, **data: [name, data], priority=priority)
give(bus.emit("e", x=1, name2="n"))
"""), [[name, {"x": 1, "name2": "n"}] for name in ("p5", "q5", "p0", "q0", "p-1")], "order and data")


def check_cancelling():
    same(probe("""
from bus import Bus
bus, seen = Bus(), []
call = lambda **data: seen.append("c")
first, second = bus.on("e", call), bus.on("e", call)
bus.emit("e"); first.cancel(); first.cancel(); bus.emit("e"); second.cancel(); bus.emit("e")
rows = [list(seen)]
seen.clear()
def killer(**data):
    seen.append("killer"); victim.cancel(); bus.on("e", lambda **d: seen.append("late"))
bus.on("e", killer, priority=1)
victim = bus.on("e", lambda **data: seen.append("victim"))
bus.emit("e")
rows.append(list(seen))
bus.emit("e")
rows.append(list(seen))
give(rows)
"""), [["c", "c", "c"], ["killer"], ["killer", "killer", "late"]], "what was called")


def check_once():
    same(probe("""
from bus import Bus
bus, seen = Bus(), []
def again(**data):
    seen.append("once")
    return bus.emit("e.x") if len(seen) < 5 else None
bus.once("e.*", again, priority=3)
handle = bus.once("e.x", lambda **data: seen.append("never"))
handle.cancel()
bus.on("e.x", lambda **data: "r")
give([bus.emit("e.x"), bus.emit("e.x"), seen])
"""), [[["r"], "r"], ["r"], ["once"]], "once")


def check_errors():
    found = probe("""
from bus import Bus, EmitError
bus, seen = Bus(), []
def bad(error):
    def call(**data):
        raise error
    return call
bus.on("e", bad(KeyError("k")))
bus.on("e", lambda **data: 1)
bus.once("e", bad(OSError("o")), priority=2)
bus.on("e", lambda **data: 2)
rows = []
for _ in range(2):
    try:
        bus.emit("e")
    except EmitError as error:
        rows.append([[type(one).__name__ for one in error.errors], list(error.results), isinstance(error, Exception)])
give(rows)
""")
    same(found, [[["OSError", "KeyError"], [1, 2], True], [["KeyError"], [1, 2], True]], "errors and results")


def check_names_that_are_none():
    found = probe("""
from bus import Bus
bus = Bus()
call = lambda **data: None
give([attempt(bus.on, p, call) for p in ("", ".", "a.", ".a", "a..b", "**.a", "a.**.b", "**.**")]
     + [attempt(bus.once, "a..b", call)]
     + [attempt(bus.emit, n) for n in ("", "a..b", "*", "a.*", "**", "a.")])
""")
    for one in found:
        raised(one, "ValueError", "a name or pattern that is none")


def check_what_worked_before():
    same(probe("""
from bus import Bus
bus = Bus()
bus.on("e", lambda a, b=2: a + b)
bus.on("e", lambda **data: len(data))
give([bus.emit("e", a=1), bus.emit("e", a=1, b=5), bus.emit("nobody")])
"""), [[3, 1], [6, 2], []], "as before")
