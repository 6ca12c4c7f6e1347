"""Polygons as lists of (x, y)."""


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def area(points, signed=False):
    """Of a simple polygon; 0 for fewer than three points; signed: below 0 where it turns clockwise."""
    if len(points) < 3:
        return 0
    total = 0
    for index in range(len(points)):
        total += cross(points[index], points[(index + 1) % len(points)])
    return total / 2 if signed else abs(total) / 2
