import ast

from lab import probe, same, text, true

GONE = ("imp", "distutils", "pipes", "cgi", "asyncore", "asynchat", "smtpd", "cgitb", "telnetlib", "crypt", "pkg_resources",
        "setuptools", "packaging", "audioop", "nntplib", "xdrlib", "uu", "imghdr", "sndhdr", "msilib", "nis", "spwd", "ossaudiodev")
BLOCK = f"""
import sys, warnings
warnings.simplefilter("ignore")
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {GONE!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Block())
for name in {GONE!r}:
    sys.modules.pop(name, None)
"""


def check_nothing_gone_is_asked_for():
    tree = ast.parse(text("plugins.py"))
    names = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    true(not names & set(GONE), f"still imported: {sorted(names & set(GONE))}")


def check_plugins_are_loaded():
    same(probe(BLOCK + """
import os, plugins, sys, tempfile
path = os.path.join(tempfile.mkdtemp(), "some plugin.txt")
with open(path, "w") as file:
    file.write("import sys\\nNAME = __name__\\nFILE = __file__\\nSELF = sys.modules[__name__]\\n")
made = plugins.load("extra_one", path)
again = plugins.load("extra_one", path)
give([made.NAME, made.FILE == path, sys.modules["extra_one"].NAME, made.SELF.__name__,
      attempt(plugins.load, "gone", path + "x")[:2]])
"""), ["extra_one", True, "extra_one", "extra_one", ["raised", "FileNotFoundError"]], "load")


def check_versions():
    cases = [["1.9", "1.10"], ["1.0", "1.0b2"], ["1.0.0", "1.0"], ["2", "10", "9.9"], ["0.99", "1.0"], ["1.2a", "1.2b"],
             ["1.5.1", "1.5.2b2"], ["1.13++", "1.2"], ["3.10a", "3.9"], ["2g6", "11g"], ["8.02", "8.1"], ["1.0-1", "1.0-10"],
             ["only"], ["1.2.3", "1.2.3"], ["1..2", "1.1"]]
    same(probe(BLOCK + f"import plugins; give([plugins.newest(case) for case in {cases!r}])"),
         ["1.10", "1.0b2", "1.0.0", "10", "1.0", "1.2b", "1.5.2b2", "1.13++", "3.10a", "11g", "8.02", "1.0-10", "only",
          "1.2.3", "1..2"], "newest")


def check_words():
    words = ["y", "YES", "t", "True", "on", "1", "n", "No", "f", "FALSE", "off", "0", "", "2", "maybe", " yes"]
    found = probe(BLOCK + f"import plugins; give([attempt(plugins.is_on, word) for word in {words!r}])")
    same([one[1] for one in found], [True] * 6 + [False] * 6 + ["ValueError"] * 4, "is_on")


def check_commands():
    same(probe(BLOCK + "import plugins; give(plugins.command(['ls', 'a b', '', \"it's\", '$x', '-l', 'a/b.c', 'ä']))"),
         "ls 'a b' '' 'it'\"'\"'s' '$x' -l a/b.c 'ä'", "command")


def check_charsets():
    cases = ["text/html; charset=ISO-8859-1", "text/html", "text/plain;charset=\"UTF-16\"; x=y", "a/b; Charset=latin1", "",
             "multipart/form-data; boundary=\"a; charset=x\"; charset=koi8-r", "text/html; charset = utf-7", "t/h; charset="]
    same(probe(BLOCK + f"import plugins; give([plugins.charset(case) for case in {cases!r}])"),
         ["iso-8859-1", "utf-8", "utf-16", "latin1", "utf-8", "koi8-r", "utf-7", ""], "charset")
