"""Circles."""

from shapes.sizes import checked

PI = 3.14159


def area(radius):
    return PI * checked(radius) ** 2
