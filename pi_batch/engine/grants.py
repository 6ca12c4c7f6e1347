"""What trials that are carried out elsewhere may spend of the suite's budget: reserved before each begins.

A process elsewhere cannot ask before each request, so it gets its part beforehand: what its own limits allow
where it has any, else an even part among the trials that may run at once. What it leaves is free again when
it has ended; one that finds no room waits for others to end. So all together keep to the suite's limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Literal

from pi_batch.budget import MIN_OUTPUT_TOKENS
from pi_batch.results import BudgetAmounts, RunResult

Dimension = Literal["turns", "tokens", "cost_usd", "tool_calls"]

LEAST: Final[dict[Dimension, float]] = {
    "turns": 1,
    "tokens": MIN_OUTPUT_TOKENS,
    "cost_usd": 1e-9,
    "tool_calls": 1,
}
"""With less of a dimension than this nothing can be begun."""


class NoRoom(Exception):
    """The suite's budget is used up, and no trial runs that might leave some of it."""

    def __init__(self, dimension: Dimension) -> None:
        super().__init__(dimension)
        self.dimension = dimension


class Grants:
    """Who may spend how much, of one suite's budget."""

    def __init__(
        self,
        limit: BudgetAmounts,
        results: Callable[[], tuple[RunResult, ...]],
        seconds_left: Callable[[], float],
    ) -> None:
        """`results` gives what every trial has come to so far, those that run included."""
        self._limit = limit
        self._results = results
        self._seconds_left = seconds_left
        self._granted: dict[str, BudgetAmounts] = {}
        """By key of a running trial: with what it had spent before."""
        self._changed = asyncio.Event()

    async def take(self, key: str, own: BudgetAmounts, free: int) -> BudgetAmounts:
        """Room for a trial, what it spent before included; `free` trials may still begin, this one too.

        Raises: NoRoom.
        """
        while True:
            results = {result.key: result for result in self._results()}
            before = spent(results.get(key))
            try:
                granted = {name: self._part(name, results, own, free) for name in LEAST}
            except NoRoom:
                if not self._granted:
                    raise
                self._changed.clear()
                await self._changed.wait()
                continue
            whole = {
                name: None if part is None else _sum(name, getattr(before, name), part)
                for name, part in granted.items()
            }
            self._granted[key] = BudgetAmounts(**whole, wall_s=self._wall_s(results.get(key)))  # type: ignore[arg-type]
            return self._granted[key]

    def give_back(self, key: str) -> None:
        """A trial has ended: what it did not spend is free."""
        self._granted.pop(key, None)
        self._changed.set()

    def _part(
        self, name: Dimension, results: dict[str, RunResult], own: BudgetAmounts, free: int
    ) -> float | None:
        limit = getattr(self._limit, name)
        if limit is None:
            return None
        used = sum(getattr(spent(result), name) or 0 for result in results.values())
        held = sum(
            max(0, getattr(granted, name) - (getattr(spent(results.get(key)), name) or 0))
            for key, granted in self._granted.items()
        )
        left = limit - used - held
        wish = getattr(own, name)
        part = min(left, left / max(1, free) if wish is None else wish)
        if part < LEAST[name] and not (name == "cost_usd" and limit == 0):
            part = min(left, LEAST[name])
            if part < LEAST[name]:
                raise NoRoom(name)
        return float(part)

    def _wall_s(self, result: RunResult | None) -> float | None:
        """Time is the same for all; a trial counts what it took before."""
        if self._limit.wall_s is None:
            return None
        return (0.0 if result is None else result.duration_s) + self._seconds_left()


def spent(result: RunResult | None) -> BudgetAmounts:
    """What a trial has come to; nothing where there is none."""
    if result is None:
        return BudgetAmounts(0, 0, 0.0, 0.0, 0)
    calls = sum(result.tool_calls.values()) + result.codemode.calls
    cost_usd = result.total_cost_usd or 0.0
    return BudgetAmounts(result.num_turns, result.usage.total_tokens, cost_usd, result.duration_s, calls)


def _sum(name: Dimension, before: float | None, part: float) -> float:
    whole = (before or 0) + part
    return whole if name == "cost_usd" else int(whole)
