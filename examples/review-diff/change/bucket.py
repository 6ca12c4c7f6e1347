"""A token bucket: so many requests a second, and a few more at once."""

import time


class Bucket:
    """Holds up to `capacity` tokens; `rate` of them come back every second."""

    def __init__(self, rate, capacity, clock=time.monotonic):
        self.rate = rate
        self.capacity = capacity
        self._clock = clock
        self._tokens = capacity
        self._at = clock()

    def take(self, amount=1):
        """Seconds to wait until there are so many tokens; 0.0 when they were taken now."""
        self._refill()
        if self._tokens < amount:
            return (amount - self._tokens) / self.rate
        self._tokens -= amount
        return 0.0

    def wait(self, amount=1, sleep=time.sleep):
        """Take so many tokens, however long that is."""
        while seconds := self.take(amount):
            sleep(seconds)

    def _refill(self):
        now = self._clock()
        self._tokens = min(self.capacity, self._tokens + (now - self._at) * self.rate)
        self._at = now
