"""Slugs of titles."""


def slug(title):
    return title.replace(" ", "_")
