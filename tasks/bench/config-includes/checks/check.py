from lab import probe, same, true

RUN = """
import config
def load(files, path="main"):
    def read(name):
        if name not in files:
            raise FileNotFoundError(name)
        return files[name]
    try:
        return list(config.load(path, read).items())
    except config.ConfigError as error:
        return ["error", error.path, error.line, str(error), isinstance(error, ValueError)]
give([load(files) for files in FILES])
"""


def loaded(*files):
    return probe(f"FILES = {[one if isinstance(one, dict) else dict(main=one) for one in files]!r}\n" + RUN)


def pairs(**values):
    return [[key, value] for key, value in values.items()]


def wrong(found, path, line, what):
    true(isinstance(found, list) and found[:1] == ["error"], f"{what}: got {found!r}, need an error")
    same(found[1:3], [path, line], f"{what}: where")
    true(found[3].startswith(f"{path}:{line}: ") and len(found[3]) > len(f"{path}:{line}: ") and found[4],
         f"{what}: its text: {found[3]!r}")


def check_plain_lines():
    found = loaded("a=1\n# x\n\n  b.c_2 =  two words # kept  \n\t# y\na = 3\nempty =\n", "", "k = a = b\r\nl=2", "x = \\ y\n")
    same(found, [[["a", "3"], ["b.c_2", "two words # kept"], ["empty", ""]], [], pairs(k="a = b", l="2"), pairs(x="\\ y")],
         "files")


def check_continued_lines():
    found = loaded("a = one \\\n   two\\\nthree\nb = x \\\n\n c = 1\n", "l += a \\\n b\n", "a = 1 \\\n# no comment\n")
    same(found, [pairs(a="one two three", b="x", c="1"), pairs(l=["a b"]), pairs(a="1 # no comment")], "files")


def check_lists():
    found = loaded("l += a\nl += b\n", "l = x\nl += y\nl += z\n", "l += a\nl = b\n", "z=1\nl+=\nz+=2\n")
    same(found, [pairs(l=["a", "b"]), pairs(l=["x", "y", "z"]), pairs(l="b"), pairs(z=["1", "2"], l=[""])], "files")


def check_values_of_keys():
    found = loaded("a = 1\nb = ${a}$$${a}\na = 2\nc = ${a}${b}\n", "l += x\nl += y\nk = <${l}>\n", "a = $$\nb=${a}{a}\n",
                   "a = 1\na = ${a}2\na += ${a}3\n")
    same(found, [pairs(a="2", b="1$1", c="21$1"), pairs(l=["x", "y"], k="<x,y>"), pairs(a="$", b="${a}"),
                 pairs(a=["12", "123"])], "files")


def check_includes():
    files = {"etc/main": "a = 1\ninclude sub/one\nb = ${x}\n", "etc/sub/one": "x = one\ninclude ../two\ninclude ../two\n",
             "etc/two": "a += 2\ninclude? nothing\n"}
    found = probe(f"FILES = {[files]!r}\n" + RUN.replace('path="main"', 'path="etc/main"'))
    same(found, [pairs(a=["1", "2", "2"], x="one", b="one")], "files")
    same(loaded({"main": "include ./a/../b c\n", "b c": "k=1"}), [pairs(k="1")], "a path with blanks and dots")


def check_lines_that_are_none():
    for text, line in (("a\n", 1), ("a = 1\n1a = 2\n", 2), ("\n\na b = 1", 3), ("= 1", 1), ("a-b=1", 1), ("include", 1),
                       ("include?\n", 1), ("a = 1 \\", 1), ("a=1\nb = x\\\ny\\\n", 2), ("includex = 1\ninclude\tq", 2),
                       ("a - = 1", 1), ("\u00e4 = 1", 1)):
        (found,) = loaded(text)
        wrong(found, "main", line, repr(text))


def check_bad_values():
    for text, line in (("a = ${b}", 1), ("a = $x", 1), ("x=1\na = ${x", 2), ("a = $", 1), ("a = x\\\n ${q}\n", 1),
                       ("a = ${}", 1), ("a = ${a}", 1)):
        (found,) = loaded(text)
        wrong(found, "main", line, repr(text))


def check_bad_includes():
    wrong(loaded({"main": "\ninclude gone\n"})[0], "main", 2, "a missing file")
    wrong(loaded({"main": "include ../up\n", "../up": "a=1"})[0], "main", 1, "above the top")
    wrong(loaded({"main": "include? ../up\n"})[0], "main", 1, "above the top, may be missing")
    wrong(loaded({"main": "include main"})[0], "main", 1, "itself")
    wrong(loaded({"main": "include a\n", "a": "x=1\ninclude? ./b\n", "b": "\n\ninclude a\n"})[0], "b", 3, "in a circle")
    wrong(loaded({"main": "a=1\ninclude d/x\n", "d/x": "\nbad\n"})[0], "d/x", 2, "a bad line in an included file")
