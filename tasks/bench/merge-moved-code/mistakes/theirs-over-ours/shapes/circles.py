"""Circles."""

import math


def area(radius):
    return math.pi * radius**2


def ring_area(outer, inner):
    if inner > outer:
        raise ValueError("the inner circle is larger")
    return area(outer) - area(inner)
