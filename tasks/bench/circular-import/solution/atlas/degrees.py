"""Degrees."""


def check_degrees(value, limit):
    """Raises: ValueError for degrees that are none."""
    if not -limit <= value <= limit:
        raise ValueError(f"degrees: {value}")
