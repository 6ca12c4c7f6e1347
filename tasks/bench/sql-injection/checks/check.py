from lab import probe, raised, same

BASE = """
import sqlite3
from search import by_year, search
base = sqlite3.connect(":memory:")
base.execute("CREATE TABLE film (id INTEGER PRIMARY KEY, title TEXT, year TEXT)")
base.execute("CREATE TABLE secret (word TEXT)")
base.execute("INSERT INTO secret VALUES ('hush')")
FILMS = [("The Harbour", "1950"), ("100% Wolf", "2020"), ("snake_case", "1999"), ("snakeXcase", "2001"), ("O'Brien", "1980"),
         ("harbour lights", "1932"), ("back\\\\slash", "1970"), ('say "x"', "1971"), ("a;b--c", "1972"), ("!x!", "1973")]
base.executemany("INSERT INTO film (title, year) VALUES (?, ?)", FILMS)
def titles(words, *more, **named):
    return [title for title, _ in search(base, words, *more, **named)]
"""


def check_harmless_words():
    same(probe(BASE + """
give([titles("harbour"), titles("HARBOUR", "year desc"), titles("harbour", order="title desc", limit=1),
      search(base, "wolf"), titles("", limit=3), titles("", "year", 2), titles("nothing"), len(titles("", limit=100))])
"""), [["The Harbour", "harbour lights"], ["The Harbour", "harbour lights"], ["harbour lights"], [["100% Wolf", "2020"]],
       ["!x!", "100% Wolf", "O'Brien"], ["harbour lights", "The Harbour"], [], 10], "results")


def check_what_is_typed_means_itself():
    same(probe(BASE + r"""
give([titles(words) for words in ("%", "_", "O'B", "100% w", "E_C", "\\", '"x"', ";b--", "!", "x!", "' OR 1=1 --", "%%",
      "x' UNION SELECT word, 1 FROM secret --", "\\%", "!%", "\0", "'; DROP TABLE film; --")])
"""), [["100% Wolf"], ["snake_case"], ["O'Brien"], ["100% Wolf"], ["snake_case"], ["back\\slash"], ['say "x"'], ["a;b--c"],
       ["!x!"], ["!x!"], [], [], [], [], [], [], []], "results")


def check_orders_and_limits():
    found = probe(BASE + """
give([attempt(titles, "", order) for order in ("id", "title; DROP TABLE film", "year asc, title", "word", "", "title  DESC x",
                                               "(SELECT word FROM secret)", "1", None)]
     + [attempt(titles, "", "title", limit) for limit in (0, 101, -1, "5", "1; DROP TABLE film", None, 2.0, True)])
""")
    for one in found:
        raised(one, "ValueError", "an order or a limit that is none")


def check_years():
    same(probe(BASE + """
give([by_year(base, ["1950", "1932"]), by_year(base, []), by_year(base, ["') OR 1=1 --"]), by_year(base, ["1'", '1"']),
      by_year(base, (str(year) for year in range(1930, 1960))), by_year(base, ["x') UNION SELECT word FROM secret --"]),
      len(by_year(base, [str(y) for y in range(1000, 1900)] + ["2020"]))])
"""), [["The Harbour", "harbour lights"], [], [], [], ["The Harbour", "harbour lights"], [], 1], "titles")
