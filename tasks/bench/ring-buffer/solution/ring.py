"""A buffer of fixed size that forgets its oldest items."""


class Ring:
    def __init__(self, size):
        if size < 1:
            raise ValueError("size must be at least 1")
        self._slots = [None] * size
        self._next = 0
        self._count = 0

    def __len__(self):
        return self._count

    def push(self, item):
        """Add an item; the oldest one makes room where the buffer is full."""
        self._slots[self._next] = item
        self._next = (self._next + 1) % len(self._slots)
        self._count = min(self._count + 1, len(self._slots))

    def items(self):
        """All items, oldest first."""
        start = self._next - self._count
        return [self._slots[(start + step) % len(self._slots)] for step in range(self._count)]

    def last(self):
        """The newest item. Raises: IndexError where there is none."""
        if not self._count:
            raise IndexError("the ring is empty")
        return self._slots[self._next - 1]
