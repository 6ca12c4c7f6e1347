"""Bookings as CSV."""

import csv
import io

COLUMNS = ("id", "room", "note")


def export(bookings):
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    writer.writerows([booking.get(column, "") for column in COLUMNS] for booking in bookings)
    return out.getvalue()
