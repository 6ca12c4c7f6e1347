"""When a limit is near, and when it is reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pi_batch.budget import MIN_OUTPUT_TOKENS, STOP_BY_DIMENSION, Dimension, Ledger
from pi_batch.results import AgentStop

LAST_TURN = "This is your last turn: after this reply no tool will be run. Finish, and answer now."
TIME_SHARE = 0.1
"""Part of the wall time that is left when the model is told."""


class LimitNotice:
    """Tells the model once per dimension; reads the task's ledger and its suite's."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._told: set[Dimension] = set()

    def restore(self, told: Iterable[str]) -> None:
        """Take over what an earlier process has told already."""
        self._told.update(dimension for dimension in STOP_BY_DIMENSION if dimension in told)

    def reached(self) -> AgentStop | None:
        """The stop that a limit gives now: no further reply is possible."""
        dimension = self._ledger.exhausted_dimension()
        return STOP_BY_DIMENSION[dimension] if dimension else None

    def due(self, input_tokens: int) -> tuple[Dimension, str] | None:
        """A dimension that allows one more reply, or little more time, and what to say of it."""
        for dimension, text in self._near(input_tokens):
            if dimension not in self._told:
                self._told.add(dimension)
                return dimension, text
        return None

    def _near(self, input_tokens: int) -> Iterator[tuple[Dimension, str]]:
        limit, used = self._ledger.limit, self._ledger.used
        if self._ledger.turns_left() == 1:
            yield "turns", f"{LAST_TURN} (Turn limit.)"
        if limit.tokens is not None and used.tokens is not None:
            left = limit.tokens - used.tokens
            if left < 2 * (input_tokens + MIN_OUTPUT_TOKENS):
                yield "tokens", f"The token budget is nearly used up ({left} left): finish now."
        if limit.cost_usd and used.cost_usd is not None and used.turns:
            left_usd = limit.cost_usd - used.cost_usd
            if left_usd < 2 * used.cost_usd / used.turns:
                yield "cost_usd", f"The money is nearly used up (${left_usd:.4f} left): finish now."
        if limit.tool_calls is not None and used.tool_calls is not None:
            left = limit.tool_calls - used.tool_calls
            if left <= max(1, limit.tool_calls // 10):
                yield "tool_calls", f"Tool calls left: {left}. A call beyond them ends the work: finish now."
        left_s = self._ledger.seconds_left
        if limit.wall_s is not None and left_s < TIME_SHARE * limit.wall_s:
            yield "wall_s", f"The time is nearly used up ({left_s:.0f} s left): finish now."
