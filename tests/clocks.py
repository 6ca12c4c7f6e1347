"""Time that tests own."""

from __future__ import annotations


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self, now_s: float = 1_000.0) -> None:
        self.now_s = now_s

    def monotonic(self) -> float:
        return self.now_s

    def time(self) -> float:
        return 1_767_225_600.0 + self.now_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds
