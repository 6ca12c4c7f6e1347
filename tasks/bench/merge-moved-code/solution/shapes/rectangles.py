"""Rectangles as (width, height)."""

from shapes.sizes import checked


def area(rect):
    """A square may be given as one number."""
    width, height = rect if isinstance(rect, tuple) else (rect, rect)
    return checked(width) * checked(height)


def scaled(rect, *, factor=2):
    """A new rectangle."""
    width, height = rect
    return (checked(width) * checked(factor), checked(height) * checked(factor))
