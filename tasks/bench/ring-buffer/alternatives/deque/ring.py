"""A buffer of fixed size that forgets its oldest items."""

from collections import deque


class Ring:
    def __init__(self, size):
        if size < 1:
            raise ValueError("size must be at least 1")
        self._kept = deque(maxlen=size)

    def __len__(self):
        return len(self._kept)

    def push(self, item):
        """Add an item; the oldest one makes room where the buffer is full."""
        self._kept.append(item)

    def items(self):
        """All items, oldest first."""
        return list(self._kept)

    def last(self):
        """The newest item. Raises: IndexError where there is none."""
        return self._kept[-1]
