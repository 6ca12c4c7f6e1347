"""What the harness does in one turn does not grow with the turns before it: counted, not timed."""

from __future__ import annotations

import asyncio
import sys
from types import FrameType
from typing import Any

import pytest

from tests.engine.test_compactor import Model, Talk

TURNS = 200
EARLY, LATE = range(10, 30), range(180, 200)


class Counting(Model):
    """Notes how many functions of ours were called between two requests."""

    def __init__(self, turns: int, chars: int) -> None:
        super().__init__(turns, chars)
        self.calls = 0
        self.at: list[int] = []

    def __call__(self, request: Any) -> Any:
        self.at.append(self.calls)
        reply = super().__call__(request)
        self.calls = self.at[-1]  # what this model looks at is no work of the harness
        return reply

    def trace(self, frame: FrameType, _event: str, _argument: object) -> None:
        """A profile function: counts calls into the package, generators' steps among them."""
        self.calls += "pi_batch/" in frame.f_code.co_filename

    def between(self, turns: range) -> float:
        """Calls per turn, on average."""
        return (self.at[turns.stop] - self.at[turns.start]) / len(turns)


def measured(model: Counting, window: int) -> Talk:
    """A run with its calls counted."""
    talk = Talk(model, window=window)
    sys.setprofile(model.trace)
    try:
        asyncio.run(talk.run())
    finally:
        sys.setprofile(None)
    assert len(model.at) > TURNS
    return talk


@pytest.mark.slow
def test_turn_two_hundred_does_as_much_as_turn_ten() -> None:
    model = Counting(TURNS, 40)
    measured(model, 10_000_000)
    assert model.between(LATE) <= 1.2 * model.between(EARLY)


@pytest.mark.slow
def test_compactions_do_not_add_up() -> None:
    model = Counting(TURNS, 1_000)
    talk = measured(model, 16_000)
    assert talk.model.asked >= 3
    assert model.between(range(150, 200)) <= 1.2 * model.between(range(50, 100))
