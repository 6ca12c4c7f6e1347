"""How many requests one endpoint gets at once: found out, not guessed.

Shared by all tasks of a run. The limit grows by one when a reply came while the limit was in use, so never
without need; it halves when the service says that it is too much, once for all requests that were under way
then. Additive increase, multiplicative decrease, as TCP does it (RFC 5681).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pi_batch.errors import ProviderError

START = 8
MOST = 256
TOO_MUCH = ("rate_limit", "overloaded")


class Limiter:
    """Slots of one endpoint."""

    def __init__(self, start: int = START, most: int = MOST) -> None:
        self.limit = start
        """Requests at once, now."""
        self._most = most
        self._used = 0
        self._generation = 0
        """Counts the halvings: a request begun before the last one says nothing new."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None, None]:
        """Hold a slot for one request, first come, first served; learn from how the request ends."""
        await self._acquire()
        generation, was_full = self._generation, self._used >= self.limit
        try:
            yield
        except ProviderError as error:
            if error.kind in TOO_MUCH and generation == self._generation:
                self.limit = max(1, self.limit // 2)
                self._generation += 1
            raise
        else:
            if was_full and generation == self._generation:
                self.limit = min(self._most, self.limit + 1)
        finally:
            self._used -= 1
            self._wake()

    async def _acquire(self) -> None:
        if self._used < self.limit and not self._waiting:
            self._used += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._used -= 1  # the slot came just before the cancellation: pass it on
                self._wake()
            else:
                self._waiting.remove(turn)
            raise

    def _wake(self) -> None:
        """Give free slots to those who wait longest."""
        while self._waiting and self._used < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._used += 1
                turn.set_result(None)
