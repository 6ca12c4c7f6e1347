"""A run as a whole in a line: how many tasks are done, what they cost so far, what is left of the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.result_words import dollars
from pi_batch.results import BudgetAmounts, RunResult
from pi_batch.sinks.running import Running, minutes


class Whole(Struct, frozen=True):
    """What is known of the run."""

    planned: int
    started_s: float
    """On the monotonic clock."""
    limit: BudgetAmounts
    """Of the whole run; its cost and wall time are shown."""
    done: int = 0
    bad: int = 0
    """Of these, how many did not pass."""
    cost_usd: float | None = 0.0
    """Of the tasks that are done; None once a price was unknown."""

    def ended(self, result: RunResult) -> Whole:
        """The same once a task has ended."""
        is_bad = result.outcome in ("failed", "error")
        cost = _sum((self.cost_usd, result.total_cost_usd))
        return replace(self, done=self.done + 1, bad=self.bad + is_bad, cost_usd=cost)

    def so_far(self) -> str:
        """`3/40, $1.23 so far`: behind the line of a task that has ended."""
        return f"{self.done}/{self.planned}, {self._cost(self.cost_usd)} so far"

    def line(self, now_s: float, running: Sequence[Running]) -> str:
        """`3/40 done, 1 not passed  $1.23 of $5.00  1:05  left 58:55`, what is running counted in."""
        bad = f", {self.bad} not passed" if self.bad else ""
        took_s = now_s - self.started_s
        parts = [
            f"{self.done}/{self.planned} done{bad}",
            self._cost(_sum((self.cost_usd, *(one.cost_usd for one in running)))),
            minutes(took_s),
        ]
        if self.limit.wall_s is not None:
            parts.append(f"left {minutes(self.limit.wall_s - took_s)}")
        return "  ".join(parts)

    def _cost(self, cost_usd: float | None) -> str:
        limit = self.limit.cost_usd
        return dollars(cost_usd) if limit is None else f"{dollars(cost_usd)} of {dollars(limit)}"


def _sum(costs: Sequence[float | None]) -> float | None:
    """All of them together; None where one is unknown."""
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None
