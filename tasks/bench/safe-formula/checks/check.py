from lab import gave, probe, raised, same

VARIABLES = {"x": 3, "y": -2.5, "name": "Zoë", "big": 2 ** 9000, "min_x": 7, "_u": 1, "zero": 0}
RIGHT = ["2", ".5", "1.", "1e3", "x", "-x", "+ -x", "x + y * 2", "(x + y) * 2", "7 // 2", "-7 // 2", "-7 % 3", "2 ** 10",
         "2 ** -1", "-2 ** 2", "2 ** 3 ** 2", "1 < 2 < 3", "1 < x > 2", "x == 3", "x != 3 or y", "zero and x", "zero or name",
         "not x", "not not 5", "1 if x > 2 else y", "1 if 0 else 2 if 0 else 3", "min(x, y)", "max(1, 2, x * 9)", "abs(y)",
         "round(2.567, 2)", "round(2.5)", "len(name)", "min_x", "_u", "7 / 2", "0 * 5", "name == name", "name < name",
         " 1 + 1 ", "x if x else 1 / 0", "1 or 1 / 0", "10 % 4.5", "2 ** 0.5", "big // 2",
         "abs(-0.0)", "x--x", "((((((x))))))", "max(x, len(name))", "x <= 3 >= 3", "2 ** 1000"]
WRONG = ["", " ", "x.real", "x.__class__", "().__class__", "name[0]", "lambda: 1", "[1]", "(1, 2)", "{}", "'a'", "f'{x}'",
         "[v for v in (1,)]", "(v := 1)", "open('x')", "__import__('os')", "eval('1')", "unknown", "min", "min + 1", "print(x)",
         "x()", "min(x)(y)", "round(2.5, ndigits=1)", "max(*name)", "min(**x)", "x; y", "x = 1", "import os", "1 +", "(1",
         "1 if 2", "x is y", "x in name", "1 @ 2", "x & 1", "x | 1", "x ^ 1", "~x", "1 << 99", "1 >> 1",
         "await x", "yield x", "1j", "x\ny", "len", "abs if x else 1", "...", "b'x'", "getattr(x, name)", "__builtins__",
         "x.__init__", "min.__self__", "1 if x else lambda: 1", "zero and unknown", "0 and name.upper()", "not min"]
FAILS = ["1 / 0", "1 // 0", "1 % 0", "name + 1", "name - name", "-name", "len(x)", "round(name)", "0 ** -1", "max()", "min(1, name)",
         "x < name", "abs(name)", "1 / zero if x else 1", "10.0 ** 400", "round(1e400)", "min(x, 5, abs)"]
COSTLY = ["2 ** 1001", "9 ** 9 ** 9", "x ** (10 ** 5)", "name * 2", "2 * name", "name * 999999999", "big * big", "big ** 2",
          "(2 ** 1000) ** 11", "1 + " * 260 + "1", "1" * 1001, "-" * 51 + "1",
          "x ** 1000 ** 2", "9" * 990 + " ** 1000", "name + name * 3", "2 ** 1000.5", "big * 2 ** 1000"]


def evaluated(formulas):
    return probe(f"""
from formula import FormulaError, evaluate
def one(text):
    try:
        value = evaluate(text, {VARIABLES!r})
        return ["gave", [type(value).__name__, repr(value) if type(value) is not int else hex(value)]]
    except FormulaError as error:
        return ["raised", "FormulaError", isinstance(error, ValueError)]
    except BaseException as error:
        return ["raised", type(error).__name__]
give([one(text) for text in {formulas!r}])
""", cpu_s=1)


def check_formulas():
    for text, one in zip(RIGHT, evaluated(RIGHT)):
        value = eval(text.strip(), {"__builtins__": {"min": min, "max": max, "abs": abs, "round": round, "len": len}}, dict(VARIABLES))
        gave(one, [type(value).__name__, repr(value) if type(value) is not int else hex(value)], repr(text))


def check_what_is_none():
    for text, one in zip(WRONG, evaluated(WRONG)):
        same(one, ["raised", "FormulaError", True], repr(text))


def check_what_goes_wrong():
    for text, one in zip(FAILS, evaluated(FAILS)):
        same(one, ["raised", "FormulaError", True], repr(text))


def check_what_costs_too_much():
    for text, one in zip(COSTLY, evaluated(COSTLY)):
        same(one, ["raised", "FormulaError", True], repr(text[:60]))


def check_depth():
    deep, fine = "-" * 51 + "x", "-" * 40 + "x"
    first, second = evaluated([deep, fine])
    same(first[:2], ["raised", "FormulaError"], "51 deep")
    gave(second, ["int", "0x3"], "40 deep")


def check_nothing_is_evaluated_before():
    same(probe("""
from formula import FormulaError, evaluate
seen = []
class Number(int):
    def __add__(self, other):
        seen.append(other)
        return 1
try:
    evaluate("(x + 1) if 1 else y.z", {"x": Number(1), "y": 2})
except FormulaError:
    pass
give(seen)
"""), [], "what was evaluated of a formula that is none")
