"""Bookings as CSV: a header, then one record a booking, each ending in CR LF."""

import csv
import io

COLUMNS = ("id", "room", "note")


def export(bookings):
    """The whole file as text. Missing columns are empty."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([booking.get(column, "") for column in COLUMNS] for booking in bookings)
    return out.getvalue()
