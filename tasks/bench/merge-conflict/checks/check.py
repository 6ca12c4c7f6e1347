import re

from lab import PYTHON, files, probe, raised, run, same, text, true

NAMES = ("test_lines_are_rounded_by_themselves", "test_floats_are_refused", "test_nothing", "test_percent_off",
         "test_shipping", "test_describe")


def check_no_marker_is_left():
    for path in files():
        true(not re.search(r"^(<{7}|={7}$|>{7}|\|\|\|\|\|\|\|)", text(path), re.M), f"{path}: a marker")


def check_all_tests_are_there_and_pass():
    for name in NAMES:
        true(f"def {name}(" in text("test_invoice.py"), f"{name} is there")
    done = run(*PYTHON, "-c", "import sys, unittest; sys.path.insert(0, '.'); unittest.main('test_invoice')")
    true(done.code == 0 and re.search(r"Ran ([6-9]|\d\d) tests", done.err), f"they pass: {done.err[-300:]}")


def check_both_sides_hold_together():
    found = probe("""
from decimal import Decimal as D
from invoice import describe, line_total, total
give([str(line_total(3, D("0.335"), 50)), str(line_total(1, D("0.125"))), str(total([(1, D("0.15"), 50)] * 2)),
      str(total([(1, D("0.125")), (1, D("0.25"), 50)], shipping=D("1.10"))), str(total([], D("3"))), str(total(iter([]))),
      str(total([(1, D("1"))], shipping=D("0.1"))), describe([(1, D("2"), 5)]), str(line_total(2, D(1)))])
""")
    same(found[:-1], ["0.50", "0.13", "0.16", "1.36", "3.00", "0.00", "1.10", ["1 x 2 -5%"]], "results")
    same(found[-1], "2.00", "a whole price")


def check_floats_are_refused_everywhere():
    found = probe("""
from decimal import Decimal as D
from invoice import line_total, total
give([attempt(lambda: str(line_total(1, 0.5, 10))), attempt(lambda: str(total([(1, D(1)), (1, 1.5, 0)]))),
      attempt(lambda: str(total([(1, D(1))], shipping=4.9)))])
""")
    for one in found:
        raised(one, "TypeError", "a float")
