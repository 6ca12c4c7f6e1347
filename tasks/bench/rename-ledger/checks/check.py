import ast
import re

from lab import PYTHON, files, probe, run, same, text, true, unchanged

AREAS = ['fees', 'limits', 'interest', 'audit', 'transfer', 'closing', 'search', 'export', 'report', 'alerts', 'merge', 'freeze']
WORD = re.compile(r"account(?!ing|ant)", re.IGNORECASE)


def check_names_are_new_and_behaviour_is_the_same():
    same(probe("""
import bank, bank.ledger
from bank import Ledger, LedgerError, open_ledger
told = []
one = open_ledger("Ann", accountant=told.append)
one.add(500)
give([repr(one), bank.__all__, attempt(one.add, -501), told == [one], bank.ledger.Ledger is Ledger,
      issubclass(LedgerError, Exception)])
"""), ["Ledger('Ann', 500)", ["Ledger", "LedgerError", "open_ledger"],
       ["raised", "LedgerError", "ledger of Ann: not enough"], True, True, True], "bank and bank.ledger")
    found = probe(f"""
import importlib
from bank import Ledger
a, b = Ledger("a", 123), Ledger("b", 45)
rows = []
for area in {AREAS!r}:
    module = importlib.import_module("bank." + area)
    call = getattr(module, area + "_of_ledger")
    kind = getattr(module, area.capitalize() + "Ledger")
    rows.append([call(a, ledgers=[a, b], ledger_limit=9), call(ledger=a), attempt(call, 5),
                 getattr(kind("x", 1), "is_" + area + "_ledger"), issubclass(kind, Ledger)])
give(rows)
""")
    same(found, [[(123 + 45 + n) % 900, (123 + n) % (100 * (n + 1)), ["raised", "LedgerError", "no ledger: 5"], True, True]
                 for n in range(len(AREAS))], "the other modules")


def check_files_keep_their_keys():
    same(probe("""
import json
from bank import Ledger
from bank.storage import load_ledgers, save
save([Ledger("x", 7)], "made.json")
give([json.load(open("made.json")), [[one.owner, one.cents] for one in load_ledgers("data/sample.json")],
      [[one.owner, one.cents] for one in load_ledgers("made.json")]])
"""), [{"accounts": [{"account": "x", "cents": 7, "kind": "account"}]}, [["account holder Ann", 250]], [["x", 7]]], "files")
    unchanged("data/sample.json", "CHANGELOG.md")


def check_nothing_is_left():
    true("bank/account.py" not in files() and "bank/ledger.py" in files(), "the module is renamed")
    for path in files():
        if path.startswith(("bank/", "docs/")) or path == "test_bank.py":
            left = WORD.findall(re.sub(r'"account"|"accounts"|"account holder Ann"|unaccounted', "", text(path)))
            same(left, [], f"{path}: account as a word")


def check_other_words_stay():
    for area in AREAS:
        code = text(f"bank/{area}.py")
        true(f"accounting/{area}" in code and "unaccounted" in code and "accounting = " in code, f"bank/{area}.py: other words")
    true("accounting" in text("bank/__init__.py") and "accountant=None" in text("bank/ledger.py"), "other words")
    true("Accounting is another department, its accountants" in text("docs/index.md"), "docs/index.md: other words")


def check_the_tests_pass():
    done = run(*PYTHON, "-c", "import sys, unittest; sys.path.insert(0, '.'); unittest.main('test_bank')")
    true(done.code == 0 and "Ran 2 tests" in done.err, f"the tests pass: {done.err[-300:]}")
