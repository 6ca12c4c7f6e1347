"""Looking for films."""

ORDERS = {f"{column}{way}": f"{column}{way}" for column in ("title", "year") for way in ("", " desc")}


def search(connection, words, order="title", limit=10):
    """(title, year) of films whose title holds the words. Raises: ValueError."""
    if order not in ORDERS:
        raise ValueError(f"order: {order!r}")
    if type(limit) is not int or not 1 <= limit <= 100:
        raise ValueError(f"limit: {limit!r}")
    pattern = "".join(f"\\{char}" if char in "\\%_" else char for char in words)
    if "\0" in words:
        return []
    query = f"SELECT title, year FROM film WHERE title LIKE ? ESCAPE '\\' ORDER BY {ORDERS[order]}, id LIMIT ?"
    return connection.execute(query, (f"%{pattern}%", limit)).fetchall()


def by_year(connection, years):
    """Titles of films of any of these years, by title."""
    import json

    query = "SELECT title FROM film WHERE year IN (SELECT value FROM json_each(?)) ORDER BY title, id"
    return [row[0] for row in connection.execute(query, (json.dumps(list(years)),))]
