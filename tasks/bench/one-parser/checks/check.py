import ast
import itertools
import random

from lab import DATA, probe, same, text, true

BEFORE = {}
exec(DATA["start/records.py"], BEFORE)
NAMES = ("read_person", "read_order", "read_event")


def lines():
    chance = random.Random(9)
    made = ["Ann;5", "Ann;5;Ulm", "Ann; 5 ; Ulm \n", "Ann;x", ";1;", "1;ab;", "1;ab;7", ' 2 ; "a;b" ; 3', "a", "", "\n", ";;;", ";",
            "d;e;f;g", "d; e ", ' d ;" e;" ', 'd;"e', '"', '""', 'a"b";c', "1;;", "1; ;2", "1;ß;0", "1;x; ", "9;y;1\n\n", "x;\ty\t"]
    made += ["".join(chance.choice('ab1;" \n') for _ in range(chance.randint(0, 9))) for _ in range(400)]
    return made


def check_every_line_is_read_as_before():
    cases = list(itertools.product(NAMES, lines()))
    found = probe(f"import records; give([attempt(getattr(records, name), line) for name, line in {cases!r}])")
    for (name, line), one in zip(cases, found):
        try:
            wanted = ["gave", BEFORE[name](line)]
        except Exception as error:
            wanted = ["raised", type(error).__name__, str(error)]
        same(one, wanted, f"{name}({line!r})")


def check_one_function_does_the_work():
    tree = ast.parse(text("records.py"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    true({*NAMES, "read_line"} <= set(functions), f"functions: {sorted(functions)}")
    loops = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
    for name in NAMES:
        node = functions[name]
        body = node.body[1:] if ast.get_docstring(node) else node.body
        size = sum(one.end_lineno - one.lineno + 1 for one in body)
        true(size <= 6, f"{name}: {size} lines")
        true(not any(isinstance(one, loops) for one in ast.walk(node)), f"{name}: a loop")
        called = {one.func.id for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
        true("read_line" in called, f"{name} uses read_line")
    same(sum(isinstance(node, ast.For) for node in ast.walk(tree)) <= 2, True, "at most two loops in the module")
    true(len(functions["read_line"].args.args) == 2, "read_line(line, fields)")
