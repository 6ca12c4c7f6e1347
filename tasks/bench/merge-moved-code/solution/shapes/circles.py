"""Circles."""

import math

from shapes.sizes import checked


def area(radius):
    return math.pi * checked(radius) ** 2


def ring_area(outer, inner):
    """Between two circles. Raises: ValueError where the inner one is larger."""
    if inner > outer:
        raise ValueError("the inner circle is larger")
    return area(outer) - area(inner)
