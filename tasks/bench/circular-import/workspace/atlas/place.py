"""A place on the globe."""

from atlas.measure import check_degrees


class Place:
    def __init__(self, name, latitude, longitude):
        check_degrees(latitude, 90)
        check_degrees(longitude, 180)
        self.name, self.latitude, self.longitude = name, latitude, longitude

    def __repr__(self):
        return f"Place({self.name!r})"
