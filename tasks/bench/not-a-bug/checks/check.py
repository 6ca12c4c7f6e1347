import json

from lab import DATA, files, same, text, true, unchanged


def check_the_verdict():
    verdict = json.loads(text("verdict.json"))
    true(isinstance(verdict, dict), "verdict.json holds an object")
    same(verdict.get("is_bug"), False, "is_bug")
    same(str(verdict.get("rule")).strip(), "2.1", "rule")


def check_nothing_else_was_changed():
    kept = sorted(name[len("start/"):] for name in DATA if name.startswith("start/"))
    unchanged(*kept)
    same([name for name in files() if name != "verdict.json"], kept, "files")
