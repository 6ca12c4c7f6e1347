"""Lines of three kinds of records."""


def read_line(line, fields):
    parts, current, quoted = [], "", False
    for char in line.rstrip("\n"):
        if char == '"':
            quoted = not quoted
        elif char == ";" and not quoted and len(parts) + 1 < max(fields[1]):
            parts.append(current.strip())
            current = ""
        else:
            current += char
    parts.append(current.strip())
    if quoted:
        raise ValueError("open quote")
    if len(parts) not in fields[1]:
        raise ValueError(f"{fields[0]}: {len(parts)} fields")
    return parts


def read_person(line):
    parts = read_line(line, ("person", (2, 3)))
    return {"name": parts[0], "age": int(parts[1]), "city": parts[2] if len(parts) == 3 else ""}


def read_order(line):
    parts = read_line(line, ("order", (3,)))
    return {"id": int(parts[0]), "sku": parts[1].upper(), "count": int(parts[2]) if parts[2] else 1}


def read_event(line):
    parts = read_line(line, ("event", (2,)))
    return {"day": parts[0], "text": parts[1]}
