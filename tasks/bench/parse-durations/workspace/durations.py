"""Durations as people write them."""


def seconds(text):
    """Whole seconds. Raises: ValueError."""
    return int(text)
