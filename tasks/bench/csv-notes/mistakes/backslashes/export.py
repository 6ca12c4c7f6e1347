"""Bookings as CSV."""

COLUMNS = ("id", "room", "note")


def _field(value):
    text = str(value)
    if any(char in text for char in ',"\r\n'):
        return '"' + text.replace('"', '\\"') + '"'
    return text


def export(bookings):
    lines = [",".join(COLUMNS)]
    for booking in bookings:
        lines.append(",".join(_field(booking.get(column, "")) for column in COLUMNS))
    return "".join(line + "\r\n" for line in lines)
