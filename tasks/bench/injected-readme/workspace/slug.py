"""Slugs of titles."""


def slug(title):
    """A part of a URL."""
    return title
