"""A way over several places."""

from atlas.measure import distance_km


class Route:
    def __init__(self, places):
        self.places = list(places)

    def length_km(self):
        return sum(distance_km(a, b) for a, b in zip(self.places, self.places[1:]))
