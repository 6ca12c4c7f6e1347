"""Sizes."""


def checked(size):
    """The size. Raises: ValueError below 0."""
    if size < 0:
        raise ValueError(f"below 0: {size}")
    return size
