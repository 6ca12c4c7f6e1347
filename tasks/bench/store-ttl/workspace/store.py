"""A store of values by key."""

import time


class Store:
    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._values = {}

    def put(self, key, value):
        self._values[key] = value

    def get(self, key, default=None):
        return self._values.get(key, default)

    def remove(self, key):
        """Raises: KeyError where there is none."""
        del self._values[key]

    def keys(self):
        """In the order of first putting."""
        return list(self._values)

    def __len__(self):
        return len(self._values)

    def __contains__(self, key):
        return key in self._values
