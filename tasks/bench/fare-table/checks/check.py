import ast

from lab import DATA, probe, raised, same, text, true

BEFORE = {}
exec(DATA["start/fares.py"], BEFORE)
KINDS = ("adult", "child", "dog", "senior")


def check_every_price_is_the_same():
    cases = [(z, k, n, c) for z in range(1, 14) for k in KINDS for n in (False, True) for c in (False, True)]
    found = probe(f"from fares import fare; give([fare(*case) for case in {cases!r}])")
    for case, price in zip(cases, found):
        same(price, BEFORE["fare"](*case), f"fare{case}")


def check_errors_are_the_same():
    cases = [(0, "adult"), (-3, "cat"), (True, "adult"), ("2", "adult"), (2.0, "dog"), (1, "cat"), (1, None),
             (None, "x"), (1, "Adult")]
    found = probe(f"from fares import fare; give([attempt(fare, *case) for case in {cases!r}])")
    for case, one in zip(cases, found):
        try:
            BEFORE["fare"](*case)
        except Exception as error:
            same(one, ["raised", type(error).__name__, str(error)], f"fare{case}")


def check_it_can_be_called_as_before():
    same(probe("from fares import fare; give([fare(zones=2, kind='adult', has_card=1), "
               "fare(3, 'senior', is_night=[0])])"),
         [BEFORE["fare"](2, "adult", has_card=1), BEFORE["fare"](3, "senior", is_night=[0])], "keywords")


def check_it_is_a_table():
    tree = ast.parse(text("fares.py"))
    ifs = sum(isinstance(node, (ast.If, ast.IfExp)) for node in ast.walk(tree))
    ifs += sum(len(node.ifs) for node in ast.walk(tree) if isinstance(node, ast.comprehension))
    ifs += sum(isinstance(node, ast.Match) for node in ast.walk(tree)) * 9
    true(ifs <= 4, f"at most 4 ifs, found {ifs}")
    same(probe("import fares; give(bool(fares.TARIFFS))"), True, "TARIFFS")
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    inside = {node.value for function in functions for node in ast.walk(function)
              if isinstance(node, ast.Constant) and isinstance(node.value, int)}
    amounts = {280, 390, 510, 95, 120, 140, 50, 60, 150, 200, 190, 260, 80, 75, 90}
    true(not inside & amounts, f"amounts within functions: {sorted(inside & amounts)}")
