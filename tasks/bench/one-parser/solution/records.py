"""Lines of three kinds of records, `a;b;c` with quotes where a `;` is in a field."""

from collections import namedtuple

Fields = namedtuple("Fields", "name least most takes_rest")
"""How many fields a kind of record has; with `takes_rest` the last one keeps its blanks and further `;`."""


def read_line(line, fields):
    """The parts of a line. Raises: ValueError."""
    parts, current, quoted = [], "", False
    for char in line.rstrip("\n"):
        if char == '"':
            quoted = not quoted
        elif char == ";" and not quoted and not (fields.takes_rest and len(parts) + 1 == fields.most):
            parts.append(current.strip())
            current = ""
        else:
            current += char
    parts.append(current if fields.takes_rest else current.strip())
    if quoted:
        raise ValueError("open quote")
    if not fields.least <= len(parts) <= fields.most:
        raise ValueError(f"{fields.name}: {len(parts)} fields")
    return parts


def read_person(line):
    """{"name", "age", "city"}; city may be left out."""
    name, age, *city = read_line(line, Fields("person", 2, 3, False))
    return {"name": name, "age": int(age), "city": city[0] if city else ""}


def read_order(line):
    """{"id", "sku", "count"}; an empty count is 1."""
    number, sku, count = read_line(line, Fields("order", 3, 3, False))
    return {"id": int(number), "sku": sku.upper(), "count": int(count) if count else 1}


def read_event(line):
    """{"day", "text"}; the text keeps its blanks, more `;` belong to it."""
    day, text = read_line(line, Fields("event", 2, 2, True))
    return {"day": day, "text": text}
