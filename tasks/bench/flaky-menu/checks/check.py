import re

from lab import PYTHON, probe, run, same, text, true, write

FAKE = """
import datetime, sys, unittest
class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2024, 1, 1, {hour}, 30, tzinfo=tz)
    @classmethod
    def today(cls):
        return cls.now()
datetime.datetime = Clock
import time
time.localtime = lambda *given: time.struct_time((2024, 1, 1, {hour}, 30, 0, 0, 1, 0))
sys.path.insert(0, ".")
"""
TESTS = "unittest.main('test_menu', argv=['t'])"


def tests(hour=10, seed="0"):
    python = (PYTHON[0], "-S", "-B", "-s")
    return run(*python, "-c", FAKE.format(hour=hour) + TESTS, seed=seed)


def check_the_tests_pass_at_any_hour_with_any_seed():
    for number, hour in enumerate((0, 11, 12, 17, 18, 23)):
        done = tests(hour, str(number))
        true(done.code == 0 and re.search(r"Ran [1-9]", done.err), f"{hour} o'clock: {done.err[-300:]}")
        true("skipped" not in done.err, "nothing is skipped")


def check_the_menu_is_the_same_with_any_seed():
    code = """
print(render({"A": (100, {"x", "milk", "egg", "nuts", "soy"}), "B": (5, {"b", "a"}), "C": (1210, ())}))
"""
    outs = {run(PYTHON[0], "-S", "-B", "-s", "-c", FAKE.format(hour=9) + "from menu import render" + code,
                seed=str(seed)).out for seed in range(6)}
    same(len(outs), 1, "different menus over 6 hash seeds")
    (only,) = outs
    same(only.split("\n")[:4], ["Good morning!", "A 1.00 (egg, milk, nuts, soy, x)", "B 0.05 (a, b)", "C 12.10"],
         "the menu")


def check_without_anything_else_the_clock_decides():
    for hour, word in ((11, "morning"), (12, "afternoon"), (17, "afternoon"), (18, "evening"), (0, "morning")):
        done = run(PYTHON[0], "-S", "-B", "-s", "-c",
                   FAKE.format(hour=hour) + "from menu import render; print(render({}), end='')")
        same(done.out, f"Good {word}!\n", f"render at {hour}")


def check_the_tests_still_find_mistakes():
    right = text("menu.py")
    broken = {
        "prices": right.replace("cents // 100", "cents // 1000"),
        "small change": right.replace(":02}", "}"),
        "noon": right.replace("< 12", "< 13"),
        "early morning": right.replace("< 12", "< 12 and hour > 4") if "hour < 12" in right else "",
        "evening": right.replace("< 18", "< 20"),
        "allergens": right.replace("if allergens", "if not allergens"),
        "a dish": right.replace("lines.append(line)", "lines[1:] or lines.append(line)"),
    }
    for what, code in broken.items():
        if not code or code == right:
            continue
        write("menu.py", code)
        done = tests()
        true(done.code != 0 and "Ran" in done.err, f"the tests fail when {what} are wrong")
    write("menu.py", right)
