"""Looking for films."""


def search(connection, words, order="title", limit=10):
    """(title, year) of films whose title holds the words. Raises: ValueError."""
    if order not in ("title", "year", "title desc", "year desc"):
        raise ValueError("order")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1 or limit > 100:
        raise ValueError("limit")
    query = "SELECT title, year FROM film WHERE instr(lower(title), lower(?)) ORDER BY " + order + ", id LIMIT ?"
    return connection.execute(query, (words, limit)).fetchall()


def by_year(connection, years):
    """Titles of films of any of these years, by title."""
    wanted = set(years)
    rows = connection.execute("SELECT title, year FROM film ORDER BY title, id")
    return [title for title, year in rows if year in wanted]
