"""Which checks ran in which attempt, and which of them decide."""

from __future__ import annotations

from msgspec import Struct

from pi_batch.events import VerificationEnd, VerificationStart
from pi_batch.results import VerificationResult


class _Check(Struct):
    """One check of one attempt; `result` is None until it has ended."""

    attempt: int
    name: str
    start: int
    """Which of the task's starts it belongs to."""
    result: VerificationResult | None = None


class CheckFold:
    """The `verify` checks of every attempt; setup, precheck and baseline decide nothing."""

    def __init__(self) -> None:
        self._checks: list[_Check] = []

    def feed(self, event: VerificationStart | VerificationEnd, *, start: int) -> None:
        """Take a check's start or end; `start` counts how often the task has been started."""
        if event.phase != "verify":
            return
        if isinstance(event, VerificationStart):
            # A resumed task judges its last attempt again: the judgement from before goes.
            self._checks = [
                check for check in self._checks if check.attempt != event.attempt or check.start == start
            ]
            self._checks.append(_Check(event.attempt, event.name, start))
            return
        result = _verification_result(event)
        for check in self._checks:
            if check.result is None and (check.attempt, check.name) == (event.attempt, event.name):
                check.result = result
                return
        self._checks.append(_Check(event.attempt, event.name, start, result))

    @property
    def last_attempt(self) -> int:
        """The highest attempt that was judged or began to be; 0 without any."""
        return max((check.attempt for check in self._checks), default=0)

    def ended(self) -> tuple[VerificationResult, ...]:
        """Every check that has ended, in order of start."""
        return tuple(check.result for check in self._checks if check.result is not None)

    def judged_attempts(self) -> int:
        """How many attempts were judged to their end."""
        open_attempts = {check.attempt for check in self._checks if check.result is None}
        return len({check.attempt for check in self._checks} - open_attempts)

    def deciding(self, attempt: int) -> tuple[VerificationResult, ...]:
        """An attempt's checks; none while one of them has not ended."""
        results = [check.result for check in self._checks if check.attempt == attempt]
        ended = tuple(result for result in results if result is not None)
        return ended if len(ended) == len(results) else ()


def _verification_result(event: VerificationEnd) -> VerificationResult:
    return VerificationResult(
        name=event.name,
        command=event.command,
        exit_code=event.exit_code,
        passed=event.passed,
        duration_s=event.duration_s,
        attempt=event.attempt,
        tests=event.tests,
        log=event.log,
        message=event.message,
        error=event.error,
    )
