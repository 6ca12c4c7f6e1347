import json

from lab import DATA, files, same, text, unchanged

WANTED = {"01.txt": "bug", "02.txt": "praise", "03.txt": "refund", "04.txt": "question", "05.txt": "bug", "06.txt": "praise",
          "07.txt": "refund", "08.txt": "question", "09.txt": "bug", "10.txt": "praise"}


def check_how_they_are_sorted():
    found = json.loads(text("sorted.json"))
    same(sorted(found), sorted(WANTED), "names")
    for name, kind in WANTED.items():
        same(found[name], kind, name)


def check_nothing_else_was_done():
    kept = sorted(name[len("start/"):] for name in DATA if name.startswith("start/"))
    unchanged(*kept)
    same([name for name in files() if name != "sorted.json"], kept, "files")
