import ast

from lab import PYTHON, files, probe, raised, run, same, text, true


def check_each_module_can_come_first():
    names = [path[:-3].replace("/", ".") for path in files() if path.startswith("atlas/") and path.endswith(".py")]
    names = [name[:-9] if name.endswith(".__init__") else name for name in names if "__main__" not in name]
    true({"atlas", "atlas.place", "atlas.measure", "atlas.route"} <= set(names), f"modules: {names}")
    for name in names:
        same(probe(f"import {name}; give(1)"), 1, f"import {name}")


def check_names_are_where_they_were():
    same(probe("""
import atlas, atlas.place, atlas.route, atlas.measure as m
give([atlas.Place is atlas.place.Place, atlas.Route is atlas.route.Route, atlas.distance_km is m.distance_km,
      m.RADIUS_KM, callable(m.check_degrees), sorted(atlas.__all__)])
"""), [True, True, True, 6371.0, True, ["Place", "Route", "distance_km"]], "names")


def check_behaviour_is_as_it_was():
    found = probe("""
from atlas import Place, Route, distance_km
a, b = Place("a", 0.0, 0.0), Place("b", 0.0, 90.0)
give([round(distance_km(a, b), 3), round(Route([a, b, a]).length_km(), 3), repr(a),
      attempt(distance_km, a, "b"), attempt(distance_km, (0, 0), b), attempt(Place, "x", 91, 0),
      attempt(Place, "x", 0, -181)])
""")
    same(found[:3], [10007.543, 20015.087, "Place('a')"], "distances")
    for one in found[3:5]:
        same(one[:2], ["raised", "TypeError"], "what is no place")
    for one in found[5:]:
        same(one[:2], ["raised", "ValueError"], "degrees")
    done = run(*PYTHON, "-c", "import runpy, sys; sys.path.insert(0, '.'); runpy.run_module('atlas', run_name='__main__')")
    same((done.code, done.out), (0, "222.4 km\n"), "python3 -m atlas")


def check_imports_stand_at_the_top():
    for path in files():
        if path.startswith("atlas/") and path.endswith(".py"):
            for node in ast.walk(ast.parse(text(path))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.If, ast.Try)):
                    inner = [one for one in ast.walk(node) if isinstance(one, (ast.Import, ast.ImportFrom))]
                    true(not inner, f"{path}: an import that is not at the top")
                true(not (isinstance(node, ast.Attribute) and node.attr == "import_module"), f"{path}: import_module")
