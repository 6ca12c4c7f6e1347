"""Looking for films."""


def search(connection, words, order="title", limit=10):
    """(title, year) of films whose title holds the words."""
    query = f"SELECT title, year FROM film WHERE title LIKE '%{words}%' ORDER BY {order}, id LIMIT {limit}"
    return connection.execute(query).fetchall()


def by_year(connection, years):
    """Titles of films of any of these years, by title."""
    listed = ", ".join(f"'{year}'" for year in years)
    return [row[0] for row in connection.execute(f"SELECT title FROM film WHERE year IN ({listed}) ORDER BY title, id")]
