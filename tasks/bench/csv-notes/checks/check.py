import csv
import io

from lab import probe, same

PLAIN = [{"id": 1, "room": "Blue", "note": "window"}, {"id": 2, "room": "Red"}, {"id": 3, "note": "a, b"}]
HARD = [
    {"id": 1, "room": 'the "old" hall', "note": "x"},
    {"id": 2, "room": "Red", "note": "two\nlines"},
    {"id": 3, "room": "Red", "note": 'she said "yes", twice\r\nand left'},
    {"id": 4, "room": '"', "note": '""'},
    {"id": 5, "room": "a\rb", "note": ""},
]


def exported(bookings):
    return probe(f"from export import export; give(export({bookings!r}))")


def check_plain_rows_are_as_they_were():
    same(exported(PLAIN), 'id,room,note\r\n1,Blue,window\r\n2,Red,\r\n3,,"a, b"\r\n', "plain rows")
    same(exported([]), "id,room,note\r\n", "no rows")


def check_what_was_written_can_be_read():
    rows = list(csv.reader(io.StringIO(exported(HARD), newline="")))
    same(rows[1:], [[str(row["id"]), row["room"], row["note"]] for row in HARD], "rows read back")


def check_quotes_are_doubled_and_only_where_needed():
    same(exported([{"id": 7, "room": 'a"b', "note": "c'd; e"}]).split("\r\n")[1], "7,\"a\"\"b\",c'd; e", "a row")
