"""Processes that only a porter sees are asked, waited for and killed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence

import pytest

from pi_batch.errors import SandboxError
from pi_batch.sandboxes.ending_inside import end_inside
from pi_batch.sandboxes.marks import CALL_BITS, Mark

MARK = Mark(1, 2, 3)


class FakeLine:
    """A porter whose processes go when they are asked so often."""

    def __init__(self, left: Sequence[int | None]) -> None:
        self._left = list(left)
        """How many live at each look; None: the porter has gone."""
        self.asked: list[tuple[int, int, int]] = []

    async def ask(self, what: str, *fields: bytes) -> tuple[list[bytes], list[int]]:
        """Count, and note what was asked."""
        assert what == "signal"
        mark, bits, number = map(int, fields)
        self.asked.append((mark, bits, number))
        left = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        if left is None:
            raise SandboxError("gone")
        return [b"%d" % left], []

    @property
    def signals(self) -> list[int]:
        """What was sent, in order."""
        return [number for _, _, number in self.asked]


async def ended(line: FakeLine, mark: Mark = MARK, *, grace_s: float = 5, hurry: bool = False) -> int:
    event = asyncio.Event()
    if hurry:
        event.set()
    return await end_inside(line, mark, grace_s=grace_s, hurry=event)  # type: ignore[arg-type] # a fake


async def test_what_goes_when_asked_is_asked_once_and_never_killed() -> None:
    line = FakeLine([2, 1, 0])
    assert await ended(line) == 0
    assert line.signals[:3] == [signal.SIGTERM, 0, 0]
    assert line.signals.count(signal.SIGTERM) == 1


@pytest.mark.parametrize(("grace_s", "hurry"), [(0, False), (60, True)])
async def test_what_stays_is_killed_when_the_grace_is_over_or_there_is_a_hurry(
    grace_s: float, hurry: bool
) -> None:
    line = FakeLine([1, 1, 1, 0])
    assert await ended(line, grace_s=grace_s, hurry=hurry) == 0
    assert line.signals == [signal.SIGTERM, signal.SIGKILL, signal.SIGKILL, signal.SIGKILL]


async def test_a_task_is_asked_for_with_all_of_its_calls() -> None:
    for mark, bits in ((MARK, 0), (Mark(1, 2, 0), CALL_BITS)):
        line = FakeLine([0])
        await ended(line, mark)
        assert line.asked[0] == (mark.limit, bits, signal.SIGTERM)


async def test_a_porter_that_has_gone_has_taken_all_with_it() -> None:
    assert await ended(FakeLine([3, None])) == 0
