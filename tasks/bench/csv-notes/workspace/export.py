"""Bookings as CSV: a header, then one record a booking, each ending in CR LF."""

COLUMNS = ("id", "room", "note")


def _field(value):
    text = str(value)
    if "," in text:
        return '"' + text + '"'
    return text


def export(bookings):
    """The whole file as text. Missing columns are empty."""
    lines = [",".join(COLUMNS)]
    for booking in bookings:
        lines.append(",".join(_field(booking.get(column, "")) for column in COLUMNS))
    return "".join(line + "\r\n" for line in lines)
