"""A cache that forgets what was not used for longest."""


class Cache:
    def __init__(self, size, on_evict=None):
        if size < 1:
            raise ValueError("size")
        self._size, self._on_evict, self._entries = size, on_evict, {}

    def get(self, key, default=None):
        try:
            value = self._entries.pop(key)
        except KeyError:
            return default
        self._entries[key] = value
        return value

    def put(self, key, value):
        self._entries.pop(key, None)
        self._entries[key] = value
        self._shrink()

    def forget(self, key):
        return self._entries.pop(key)

    def resize(self, size):
        if size < 1:
            raise ValueError("size")
        self._size = size
        self._shrink()

    def keys(self):
        return list(self._entries)

    def __len__(self):
        return len(self._entries)

    def _shrink(self):
        while len(self._entries) > self._size:
            oldest = next(iter(self._entries))
            value = self._entries.pop(oldest)
            if self._on_evict:
                self._on_evict(oldest, value)
