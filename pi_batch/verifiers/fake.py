"""A verifier whose judgements are written beforehand: for tests of whatever calls one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_batch.protocols import CheckContext, Judgement
from pi_batch.results import VerificationResult


class Fake:
    """Gives its judgements in order, the last one again and again; without any, everything passes."""

    name = "fake"

    def __init__(self, judgements: Sequence[Judgement] = ()) -> None:
        self._judgements = list(judgements)
        self.seen: list[tuple[Any, CheckContext]] = []
        """What was to be judged, in order."""

    async def verify(self, check: Any, context: CheckContext) -> Judgement:
        """Give the next judgement."""
        self.seen.append((check, context))
        if len(self._judgements) > 1:
            return self._judgements.pop(0)
        if self._judgements:
            return self._judgements[0]
        return Judgement(
            VerificationResult(
                name=getattr(check, "name", "fake"),
                command=getattr(check, "run", ""),
                exit_code=0,
                passed=True,
                duration_s=0.0,
                attempt=context.attempt,
            )
        )
