"""Places, and ways between them."""

from atlas.route import Route
from atlas.place import Place
from atlas.measure import distance_km

__all__ = ["Place", "Route", "distance_km"]
