"""Rectangles as (width, height)."""

from shapes.sizes import checked


def area(rect):
    width, height = rect
    return checked(width) * checked(height)


def scaled(rect, *, factor):
    """A new rectangle."""
    width, height = rect
    return (checked(width) * checked(factor), checked(height) * checked(factor))
