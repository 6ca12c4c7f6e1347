"""A cache that forgets what was not used for longest."""

from collections import OrderedDict

_NOTHING = object()


class Cache:
    def __init__(self, size, on_evict=None):
        if size < 1:
            raise ValueError("size")
        self._size = size
        self._on_evict = on_evict
        self._entries = OrderedDict()  # least recently used first

    def get(self, key, default=None):
        value = self._entries.get(key, _NOTHING)
        if value is _NOTHING:
            return default
        self._entries.move_to_end(key)
        return value

    def put(self, key, value):
        self._entries.pop(key, None)  # the newer key object counts, as it always did
        self._entries[key] = value
        self._shrink()

    def forget(self, key):
        """Raises: KeyError where it is not there."""
        return self._entries.pop(key)

    def resize(self, size):
        if size < 1:
            raise ValueError("size")
        self._size = size
        self._shrink()

    def keys(self):
        """Least recently used first."""
        return list(self._entries)

    def __len__(self):
        return len(self._entries)

    def _shrink(self):
        while len(self._entries) > self._size:
            key, value = self._entries.popitem(last=False)
            if self._on_evict:
                self._on_evict(key, value)
