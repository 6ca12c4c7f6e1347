"""Lines of three kinds of records, `a;b;c` with quotes where a `;` is in a field."""


def read_person(line):
    """{"name", "age", "city"}; city may be left out."""
    parts, current, quoted = [], "", False
    for char in line.rstrip("\n"):
        if char == '"':
            quoted = not quoted
        elif char == ";" and not quoted:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    parts.append(current.strip())
    if quoted:
        raise ValueError("open quote")
    if len(parts) not in (2, 3):
        raise ValueError(f"person: {len(parts)} fields")
    return {"name": parts[0], "age": int(parts[1]), "city": parts[2] if len(parts) == 3 else ""}


def read_order(line):
    """{"id", "sku", "count"}; an empty count is 1."""
    parts, current, quoted = [], "", False
    for char in line.rstrip("\n"):
        if char == '"':
            quoted = not quoted
        elif char == ";" and not quoted:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    parts.append(current.strip())
    if quoted:
        raise ValueError("open quote")
    if len(parts) != 3:
        raise ValueError(f"order: {len(parts)} fields")
    return {"id": int(parts[0]), "sku": parts[1].upper(), "count": int(parts[2]) if parts[2] else 1}


def read_event(line):
    """{"day", "text"}; the text keeps its blanks, more `;` belong to it."""
    parts, current, quoted = [], "", False
    for char in line.rstrip("\n"):
        if char == '"':
            quoted = not quoted
        elif char == ";" and not quoted and len(parts) < 1:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    parts.append(current)
    if quoted:
        raise ValueError("open quote")
    if len(parts) != 2:
        raise ValueError(f"event: {len(parts)} fields")
    return {"day": parts[0], "text": parts[1]}
