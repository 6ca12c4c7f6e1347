"""Where trials are carried out: in this process, or by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from pi_batch.events import Record
from pi_batch.results import BudgetAmounts


class Trial(Struct, frozen=True):
    """One planned result to be made, now."""

    key: str
    limit: BudgetAmounts
    """What it may come to of the suite's budget, with what it spent before; for executors elsewhere."""
    run_here: Callable[[], Awaitable[None]]
    """Carries it out in this process."""
    take: Callable[[Record], None]
    """Takes each record that was written elsewhere, in order, once."""


class Executor(Protocol):
    """Carries trials out; many at once, each once."""

    name: str
    is_remote: bool
    """True when trials write logs of their own, and their spending is known only by these."""

    async def start(self) -> int | None:
        """Be ready; how many trials it takes at once, None: as many as the plan says. Raises: UsageError."""
        ...

    async def run(self, trial: Trial) -> str:
        """Carry one out, all its records taken; why it came to no end, empty where it did.

        Cancelled, it ends the trial with its whole process tree. Raises: ExecutorError when no further trial
        can be carried out.
        """
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...
