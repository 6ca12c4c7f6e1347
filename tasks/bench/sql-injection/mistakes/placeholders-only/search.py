"""Looking for films."""


def search(connection, words, order="title", limit=10):
    """(title, year) of films whose title holds the words."""
    if order.split()[0] not in ("title", "year"):
        raise ValueError("order")
    query = f"SELECT title, year FROM film WHERE title LIKE ? ORDER BY {order}, id LIMIT ?"
    return connection.execute(query, (f"%{words}%", limit)).fetchall()


def by_year(connection, years):
    """Titles of films of any of these years, by title."""
    years = list(years)
    marks = ", ".join("?" * len(years))
    return [row[0] for row in connection.execute(f"SELECT title FROM film WHERE year IN ({marks}) ORDER BY title, id", years)]
