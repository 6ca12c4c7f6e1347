"""A cache that forgets what was not used for longest."""


class Cache:
    def __init__(self, size, on_evict=None):
        if size < 1:
            raise ValueError("size")
        self._size = size
        self._on_evict = on_evict
        self._entries = []  # [key, value], least recently used first

    def _find(self, key):
        for number, entry in enumerate(self._entries):
            if entry[0] == key:
                return number
        return None

    def get(self, key, default=None):
        number = self._find(key)
        if number is None:
            return default
        entry = self._entries.pop(number)
        self._entries.append(entry)
        return entry[1]

    def put(self, key, value):
        number = self._find(key)
        if number is not None:
            self._entries.pop(number)
        self._entries.append([key, value])
        self._shrink()

    def forget(self, key):
        """Raises: KeyError where it is not there."""
        number = self._find(key)
        if number is None:
            raise KeyError(key)
        return self._entries.pop(number)[1]

    def resize(self, size):
        if size < 1:
            raise ValueError("size")
        self._size = size
        self._shrink()

    def keys(self):
        """Least recently used first."""
        return [key for key, _ in self._entries]

    def __len__(self):
        return len(self._entries)

    def _shrink(self):
        while len(self._entries) > self._size:
            key, value = self._entries.pop(0)
            if self._on_evict:
                self._on_evict(key, value)
