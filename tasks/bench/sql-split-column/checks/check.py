import sqlite3

from lab import DATA, same, text, true

PERSONS = [
    (1, "Ada", " Ada@Example.org ", "2021-01-01"), (2, "Bo", "+49 (30) 123-45", "2021-01-02"),
    (3, "Cy", None, "2021-01-03"), (4, "Di", "   ", "2021-01-04"), (7, "Ed", "ada@example.org", "2021-01-05"),
    (8, "Flo", "030/99 88", "2021-01-06"), (9, "Gil", "none", "2021-01-07"), (12, "Hu", "ADA@EXAMPLE.ORG", "x"),
    (13, "Ida", "hu+tag@example.org", "y"), (20, "Jo", "\t+1 2+3 ", "z"),
]
VISITS = [(1, 1, "a"), (2, 1, "b"), (3, 7, "c"), (5, 12, "d"), (6, 9, "e")]


def migrated():
    base = sqlite3.connect(":memory:")
    base.executescript(DATA["start/migrations/001_start.sql"])
    base.executemany("INSERT INTO person VALUES (?, ?, ?, ?)", PERSONS)
    base.executemany("INSERT INTO visit VALUES (?, ?, ?)", VISITS)
    base.commit()
    base.execute("PRAGMA foreign_keys = ON")
    base.executescript(text("migrations/002_split_contact.sql"))
    base.commit()
    base.execute("PRAGMA foreign_keys = ON")
    return base


def ask(base, query):
    return [list(row) for row in base.execute(query)]


def check_contacts_are_split():
    base = migrated()
    columns = [row[1] for row in ask(base, "PRAGMA table_info(person)")]
    same(sorted(columns), ["created_at", "email", "id", "name", "phone"], "columns of person")
    same(ask(base, "SELECT id, name, email, phone, created_at FROM person ORDER BY id"), [
        [1, "Ada", "ada@example.org", None, "2021-01-01"], [2, "Bo", None, "+493012345", "2021-01-02"],
        [3, "Cy", None, None, "2021-01-03"], [4, "Di", None, None, "2021-01-04"],
        [7, "Ed", None, None, "2021-01-05"], [8, "Flo", None, "0309988", "2021-01-06"],
        [9, "Gil", None, None, "2021-01-07"], [12, "Hu", None, None, "x"],
        [13, "Ida", "hu+tag@example.org", None, "y"], [20, "Jo", None, "+123", "z"],
    ], "persons")


def check_lost_addresses_are_kept():
    same(ask(migrated(), "SELECT person_id, email FROM lost_email ORDER BY person_id"),
         [[7, "ada@example.org"], [12, "ada@example.org"]], "lost_email")


def check_visits_are_all_there_and_refer():
    base = migrated()
    same(ask(base, "SELECT id, person_id, day FROM visit ORDER BY id"), [list(row) for row in VISITS], "visits")
    same(ask(base, "PRAGMA foreign_key_check"), [], "foreign_key_check")
    base.execute("DELETE FROM person WHERE id = 1")
    same(ask(base, "SELECT id FROM visit ORDER BY id"), [[3], [5], [6]], "visits after their person was deleted")
    try:
        base.execute("INSERT INTO visit VALUES (99, 4711, 'x')")
    except sqlite3.IntegrityError:
        return
    true(False, "a visit of nobody is refused")


def check_constraints():
    base = migrated()
    for statement in ("INSERT INTO person (name, email) VALUES ('X', 'ada@example.org')",
                      "INSERT INTO person (name) VALUES (NULL)"):
        try:
            base.execute(statement)
        except sqlite3.IntegrityError:
            continue
        true(False, f"refused: {statement}")
    base.execute("INSERT INTO person (name) VALUES ('Y')")
    base.execute("INSERT INTO person (name) VALUES ('Z')")
    same(ask(base, "SELECT created_at FROM person WHERE name = 'Y'"), [["2020-01-01"]], "default of created_at")


def check_the_view():
    same(ask(migrated(), "SELECT name, contact, visits FROM visitors ORDER BY name"), [
        ["Ada", "ada@example.org", 2], ["Bo", "+493012345", 0], ["Cy", None, 0], ["Di", None, 0], ["Ed", None, 1],
        ["Flo", "0309988", 0], ["Gil", None, 1], ["Hu", None, 1], ["Ida", "hu+tag@example.org", 0],
        ["Jo", "+123", 0],
    ], "visitors")
