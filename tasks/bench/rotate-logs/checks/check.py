import os
import shutil
import tempfile

from lab import run, same, true


def rotated(entries, keep, *, target=None, times=1):
    top = tempfile.mkdtemp()
    place = os.path.join(top, "a b")
    os.mkdir(place)
    for name, content in entries.items():
        path = os.path.join(place, name)
        if content is None:
            os.mkdir(path)
        else:
            with open(path, "w") as file:
                file.write(content)
    script = os.path.abspath("rotate.sh")
    for _ in range(times):
        done = run("sh", script, *([place if target is None else target, keep] if keep is not None else [place]),
                   cwd=top)
    found = {}
    for name in sorted(os.listdir(place)):
        path = os.path.join(place, name)
        found[name] = None if os.path.isdir(path) else open(path).read()
    shutil.rmtree(top)
    return done, found


def check_old_ones_move_along():
    done, found = rotated({"a.log": "new", "a.log.1": "one", "a.log.2": "two", "a.log.3": "three"}, "3")
    same(done.code, 0, f"exit code ({done.err})")
    same(found, {"a.log": "", "a.log.1": "new", "a.log.2": "one", "a.log.3": "two"}, "files")


def check_ten_and_more():
    entries = {"a.log": "0", **{f"a.log.{n}": str(n) for n in range(1, 13)}}
    _, found = rotated(entries, "11")
    same(found, {"a.log": "", **{f"a.log.{n}": str(n - 1) for n in range(1, 12)}}, "files")
    _, found = rotated(entries, "2")
    same(found, {"a.log": "", "a.log.1": "0", "a.log.2": "1"}, "files, fewer kept than there are")


def check_gaps_stay_gaps_or_close():
    _, found = rotated({"a.log": "new", "a.log.2": "two", "a.log.5": "five"}, "9")
    true(found in ({"a.log": "", "a.log.1": "new", "a.log.3": "two", "a.log.6": "five"},
                   {"a.log": "", "a.log.1": "new", "a.log.2": "two", "a.log.5": "five"}), f"files: {found}")


def check_names_with_blanks_and_stars():
    _, found = rotated({"my app.log": "x", "my app.log.1": "y", "-n.log": "z", "*.log": "w", "a\tb.log": "t"}, "5")
    same(found, {"my app.log": "", "my app.log.1": "x", "my app.log.2": "y", "-n.log": "", "-n.log.1": "z",
                 "*.log": "", "*.log.1": "w", "a\tb.log": "", "a\tb.log.1": "t"}, "files")


def check_others_are_not_touched():
    others = {".hidden.log": "h", "dir.log": None, "x.log.bak": "b", "x.log.old.3": "o", "x.log.01": "l",
              "lone.log.1": "1", "empty.log": "", "empty.log.1": "e", "readme": "r", "x.log.": "d"}
    _, found = rotated({**others, "x.log": "n"}, "1")
    same(found, {**others, "x.log": "", "x.log.1": "n"}, "files")


def check_twice():
    _, found = rotated({"a.log": "1"}, "3", times=2)
    same(found, {"a.log": "", "a.log.1": "1"}, "an empty log is not rotated")


def check_what_is_wrong_changes_nothing():
    entries = {"a.log": "new", "a.log.1": "one"}
    for keep in ("0", "-1", "x", "", "1x", "2 3", None):
        done, found = rotated(entries, keep)
        same((done.code, found), (2, entries), f"KEEP {keep!r}")
        same(len(done.err.strip().split("\n")), 1, "lines on stderr")
        true(done.err.strip() != "" and done.out == "", "one line on stderr, nothing on stdout")
    for target in ("/nonexistent/place", "", "a b/a.log"):
        done, found = rotated(entries, "2", target=target)
        same((done.code, found), (2, entries), f"DIRECTORY {target!r}")


def check_no_logs_is_fine():
    done, found = rotated({}, "2")
    same((done.code, found, done.err), (0, {}, ""), "an empty directory")
