"""Distances and degrees."""

import math

from atlas.degrees import check_degrees
from atlas.place import Place

__all__ = ["RADIUS_KM", "check_degrees", "distance_km"]

RADIUS_KM = 6371.0


def distance_km(a, b):
    """Along the surface. Raises: TypeError for what is no place."""
    if not isinstance(a, Place) or not isinstance(b, Place):
        raise TypeError("need places")
    p, q = math.radians(a.latitude), math.radians(b.latitude)
    half = math.sin((q - p) / 2) ** 2
    half += math.cos(p) * math.cos(q) * math.sin(math.radians(b.longitude - a.longitude) / 2) ** 2
    return 2 * RADIUS_KM * math.asin(math.sqrt(half))
