import json

from lab import PYTHON, run, same, text, true, write


def todo(*words, file="t.json"):
    return run(*PYTHON, "todo.py", file, *words)


def check_high_comes_first_and_numbers_stay():
    for words in (["a"], ["--priority", "low", "b", "c"], ["--priority", "high", "d"], ["e"],
                  ["--priority", "normal", "f"], ["--priority", "high", "g"]):
        done = todo("add", *words)
        same((done.code, done.out, done.err), (0, "", ""), f"add {words}")
    same(todo("list").out, "3 high d\n6 high g\n1 a\n4 e\n5 f\n2 low b c\n", "list")
    same(todo("done", "3").code, 0, "done")
    same(todo("list").out, "6 high g\n1 a\n4 e\n5 f\n2 low b c\n", "list after done")


def check_what_is_no_priority_changes_nothing():
    todo("add", "x", file="u.json")
    before = text("u.json")
    for word in ("urgent", "High", ""):
        done = todo("add", "--priority", word, "y", file="u.json")
        same(done.code, 2, f"--priority {word!r}: exit code")
        same(len([line for line in done.err.split("\n") if line]), 1, "lines on stderr")
        true("Traceback" not in done.err and done.out == "", "no traceback, nothing on stdout")
    same(text("u.json"), before, "the file")


def check_old_files_are_read():
    write("old.json", json.dumps([{"text": "x", "done": False}, {"text": "y", "done": True},
                                  {"text": "z", "done": False}]))
    todo("add", "--priority", "high", "new", file="old.json")
    same(todo("list", file="old.json").out, "4 high new\n1 x\n3 z\n", "list of an old file")


def check_the_rest_is_as_it_was():
    same(todo("fly", file="v.json").code, 2, "an unknown command")
    same(todo("list", file="none.json").out, "", "an empty list")
    todo("add", "high", "hopes", file="w.json")
    same(todo("list", file="w.json").out, "1 high hopes\n", "a text that begins with a priority's name")
