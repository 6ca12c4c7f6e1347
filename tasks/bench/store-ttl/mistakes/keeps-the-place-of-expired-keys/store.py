"""A store of values by key, some of which expire."""

import time


class Store:
    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._values = {}
        self._ends = {}

    def put(self, key, value, ttl_s=None):
        if ttl_s is not None and ttl_s <= 0:
            raise ValueError("ttl_s")
        self._values[key] = value
        self._ends.pop(key, None)
        if ttl_s is not None:
            self._ends[key] = self._clock() + ttl_s

    def _is_gone(self, key):
        return key in self._ends and self._clock() >= self._ends[key]

    def get(self, key, default=None):
        return default if self._is_gone(key) else self._values.get(key, default)

    def remove(self, key):
        if self._is_gone(key):
            raise KeyError(key)
        del self._values[key]

    def keys(self):
        return [key for key in self._values if not self._is_gone(key)]

    def purge(self):
        gone = [key for key in self._values if self._is_gone(key)]
        for key in gone:
            del self._values[key], self._ends[key]
        return len(gone)

    def __len__(self):
        return len(self.keys())

    def __contains__(self, key):
        return key in self._values and not self._is_gone(key)
