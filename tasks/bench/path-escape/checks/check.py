from lab import gave, probe, raised, same

PLACE = """
import os, tempfile
from downloads import read
base = os.path.realpath(tempfile.mkdtemp())
top = os.path.join(base, "files")
for path, text in {"files/a.txt": "A", "files/sub/b": "B", "files/..hidden": "H", "files/a..b": "D", "files/ x y ": "X",
                   "files/C:x": "C", "files/...": "T", "files-private/p": "P", "secret": "S", "files/sub/deep/e": "E",
                   "files/~root": "R"}.items():
    os.makedirs(os.path.dirname(os.path.join(base, path)), exist_ok=True)
    with open(os.path.join(base, path), "w") as file:
        file.write(text)
os.symlink("../secret", os.path.join(top, "out"))
os.symlink(base, os.path.join(top, "up"))
os.symlink(os.path.join(base, "gone"), os.path.join(top, "dangling"))
os.symlink("sub", os.path.join(top, "inner"))
os.symlink("../a.txt", os.path.join(top, "sub/link"))
os.symlink("nowhere", os.path.join(top, "lost"))
os.symlink("loop", os.path.join(top, "loop"))
os.symlink("files", os.path.join(base, "alias"))
def tried(names, where=None):
    return [attempt(lambda: read(where or top, name).decode()) for name in names]
"""


def tried(names, where="None"):
    return probe(PLACE + f"give(tried([n.replace('BASE', base) for n in {names!r}], {where}))")


def check_what_leads_out_is_refused():
    names = ["../secret", "../files-private/p", "sub/../../secret", "BASE/secret", "BASE/files/a.txt", "/etc/passwd", "out",
             "up/secret", "up/files-private/p", "../gone", "dangling", "..", "sub/../..", "/", "inner/../../secret",
             "../../../../../../etc/passwd", "up", "../files", "./../secret", "sub/./.././../secret"]
    for name, one in zip(names, tried(names)):
        raised(one, "Refused", repr(name))


def check_what_looks_odd_works():
    names = {"a.txt": "A", "sub/b": "B", "..hidden": "H", "a..b": "D", " x y ": "X", "C:x": "C", "...": "T", "~root": "R",
             "sub/../a.txt": "A", "./sub//b": "B", "inner/b": "B", "sub/link": "A", "inner/link": "A",
             "inner/deep/e": "E", "sub/deep/../b": "B"}
    for (name, text), one in zip(names.items(), tried(list(names))):
        gave(one, text, repr(name))


def check_what_is_not_there():
    names = ["gone", "sub/gone", "..gone", "lost", "sub/../gone"]
    for name, one in zip(names, tried(names)):
        raised(one, "FileNotFoundError", repr(name))


def check_directories_and_nonsense_are_refused():
    names = ["", ".", "sub", "sub/", "inner", "a\0b", "../\0"]
    for name, one in zip(names, tried(names)):
        raised(one, "Refused", repr(name))
    raised(tried(["loop"])[0], ("Refused", "FileNotFoundError"), "a link to itself")


def check_the_directory_may_be_named_in_any_way():
    for where in ("base + '/alias'", "top + '/'", "base + '/files/../files'", "top + '/sub/..'"):
        found = tried(["a.txt", "sub/link", "../secret", "out"], where)
        same([one[-1] if one[0] == "gave" else one[1] for one in found], ["A", "A", "Refused", "Refused"], where)
    found = probe(PLACE + "os.chdir(base)\ngive([attempt(lambda: read('files', n).decode()) for n in ('a.txt', '../secret')])")
    same([one[-1] if one[0] == "gave" else one[1] for one in found], ["A", "Refused"], "a relative directory")
