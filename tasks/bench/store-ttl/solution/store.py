"""A store of values by key, some of which expire."""

import math
import time


class Store:
    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._values = {}
        """Key -> (value, when it expires)."""

    def put(self, key, value, ttl_s=None):
        if ttl_s is not None and not ttl_s > 0:
            raise ValueError(f"ttl_s: {ttl_s!r}")
        if key not in self:
            self._values.pop(key, None)
        self._values[key] = (value, math.inf if ttl_s is None else self._clock() + ttl_s)

    def get(self, key, default=None):
        return self._values[key][0] if key in self else default

    def remove(self, key):
        """Raises: KeyError where there is none."""
        if key not in self:
            raise KeyError(key)
        del self._values[key]

    def keys(self):
        """In the order of first putting."""
        now = self._clock()
        return [key for key, (_, end) in self._values.items() if now < end]

    def purge(self):
        """Drop what has expired; how many."""
        now = self._clock()
        gone = [key for key, (_, end) in self._values.items() if now >= end]
        for key in gone:
            del self._values[key]
        return len(gone)

    def __len__(self):
        return len(self.keys())

    def __contains__(self, key):
        return key in self._values and self._clock() < self._values[key][1]
