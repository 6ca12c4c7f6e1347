import random
import sqlite3

from lab import DATA, same, text, true


def rows(branches, books, loans):
    base = sqlite3.connect(":memory:")
    base.executescript(DATA["start/schema.sql"])
    base.executemany("INSERT INTO branch VALUES (?, ?)", branches)
    base.executemany("INSERT INTO book VALUES (?, ?, 'x')", books)
    base.executemany("INSERT INTO loan VALUES (?, ?, ?, ?)", loans)
    found = base.execute(text("report.sql").strip().rstrip(";"))
    same([column[0] for column in found.description], ["branch", "month", "loans"], "columns")
    return [list(row) for row in found]


def wanted(branches, books, loans):
    place, count = dict(books), {}
    for _, book, day, cancelled in loans:
        if cancelled != 1:
            month = count.setdefault(place[book], {})
            month[day[:7]] = month.get(day[:7], 0) + 1
    best = []
    for branch, name in branches:
        if branch in count:
            number, month = max((number, month) for month, number in count[branch].items())
            best.append([name, month, number])
    return sorted(best, key=lambda row: row[0].lower())


def check_ties_cancelled_loans_and_empty_branches():
    branches = [(1, "b"), (2, "A"), (3, "c"), (4, "D")]
    books = [(10, 1), (11, 1), (20, 2), (30, 3)]
    loans = [(1, 10, "2022-01-05", 0), (2, 11, "2022-03-05", None), (3, 20, "2023-01-01", 1),
             (4, 20, "2023-02-01", 0), (5, 20, "2023-01-02", 1), (6, 30, "2020-01-01", 1), (7, 10, "2022-03-09", 0),
             (8, 11, "2022-01-31", None)]
    same(rows(branches, books, loans), [["A", "2023-02", 1], ["b", "2022-03", 2]], "rows")


def check_many_loans():
    chance = random.Random(7)
    for _ in range(5):
        branches = [(number, f"{chance.choice('aBcD')}{number}") for number in range(1, 9)]
        books = [(number, chance.randint(1, 8)) for number in range(1, 30)]
        loans = [(number, chance.randint(1, 29), f"202{chance.randint(0, 3)}-{chance.randint(1, 12):02}-"
                  f"{chance.randint(1, 28):02}", chance.choice([None, 0, 0, 1])) for number in range(1, 300)]
        same(rows(branches, books, loans), wanted(branches, books, loans), "rows")


def check_two_branches_of_one_name():
    same(rows([(1, "Same"), (2, "Same")], [(1, 1), (2, 2)],
              [(1, 1, "2020-01-01", 0), (2, 2, "2020-02-01", 0), (3, 2, "2020-02-02", 0)])[0][0], "Same", "rows")
    same(sorted(row[2] for row in rows([(1, "Same"), (2, "Same")], [(1, 1), (2, 2)],
         [(1, 1, "2020-01-01", 0), (2, 2, "2020-02-01", 0), (3, 2, "2020-02-02", 0)])), [1, 2], "loans")


def check_it_is_one_select():
    true(text("report.sql").strip().rstrip(";").count(";") == 0, "one statement")
