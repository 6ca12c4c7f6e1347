"""An end to waits that last too long, cheap enough for every chunk of a stream.

`asyncio.timeout` around each read costs more than the read; around the whole stream it would fire while
the consumer of the generator works. One timer per stream looks at most once per limit whether an event
has come since; a wait in itself costs a few attribute writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from math import inf, isinf
from typing import Literal, TypeVar

T = TypeVar("T")

Limit = Literal["first_event", "idle", "total"]


class Stalled(Exception):
    """A wait outlived its limit."""

    def __init__(self, limit: Limit, seconds: float) -> None:
        super().__init__(f"{limit}: {seconds:g} s")
        self.limit: Limit = limit
        self.seconds = seconds


class StallGuard:
    """Watches one request: until the first event, between events, and in total."""

    def __init__(self, *, first_event_s: float, idle_s: float, total_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self._idle_s = idle_s
        self._total_s = total_s
        self._end = now + total_s if not isinf(total_s) else inf
        self._limit: Limit = "first_event"
        self._limit_s = first_event_s
        self._since = now
        self._task: asyncio.Task[object] | None = None
        """Whoever waits right now."""
        self._timer: asyncio.TimerHandle | None = None
        self._fired: Limit | None = None

    def progress(self) -> None:
        """An event came: the limit between events counts from now."""
        self._since = self._loop.time()
        self._limit, self._limit_s = "idle", self._idle_s

    def shorten(self, seconds: float) -> None:
        """From the latest event on, no more than this between events."""
        if seconds < self._limit_s:
            self._limit_s = self._idle_s = seconds
            self.close()

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """The awaitable's result. Raises: Stalled, after cancelling it."""
        self._task = task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in a task
        cancelling = task.cancelling()
        if self._timer is None:  # the first wait, or the consumer worked for longer than the limit
            self._arm()
        try:
            return await awaitable
        except asyncio.CancelledError:
            if self._fired is not None and task.uncancel() <= cancelling:
                seconds = self._total_s if self._fired == "total" else self._limit_s
                raise Stalled(self._fired, seconds) from None
            raise
        finally:
            self._task = None

    def close(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        due = min(self._since + self._limit_s, self._end)
        self._timer = None if isinf(due) else self._loop.call_at(due, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        self._timer = None
        if now < min(self._since + self._limit_s, self._end):
            self._arm()
        elif self._task is not None:  # else the consumer is at work: the next wait arms again
            self._fired = "total" if now >= self._end else self._limit
            self._task.cancel()
