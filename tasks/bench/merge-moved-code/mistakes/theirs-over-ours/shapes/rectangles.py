"""Rectangles as (width, height)."""


def area(rect):
    width, height = rect if isinstance(rect, tuple) else (rect, rect)
    return width * height


def scaled(rect, factor=2):
    """A new rectangle."""
    width, height = rect
    return (width * factor, height * factor)
