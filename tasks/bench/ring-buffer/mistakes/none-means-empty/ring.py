"""A buffer of fixed size that forgets its oldest items."""


class Ring:
    def __init__(self, size):
        if size < 1:
            raise ValueError("size must be at least 1")
        self._size = size
        self._slots = []

    def __len__(self):
        return len(self._slots)

    def push(self, item):
        self._slots = (self._slots + [item])[-self._size :]

    def items(self):
        return [item for item in self._slots if item is not None]

    def last(self):
        if not self.items():
            raise IndexError("the ring is empty")
        return self.items()[-1]
