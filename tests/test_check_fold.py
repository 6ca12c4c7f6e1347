"""Which checks decide."""

from __future__ import annotations

from pi_batch.check_fold import CheckFold
from pi_batch.events import VerificationEnd, VerificationPhase, VerificationStart


def started(name: str = "tests", attempt: int = 1, phase: VerificationPhase = "verify") -> VerificationStart:
    return VerificationStart(phase, name, "run", attempt)


def ended(
    name: str = "tests", attempt: int = 1, *, passed: bool = True, phase: VerificationPhase = "verify"
) -> VerificationEnd:
    return VerificationEnd(phase, name, "run", int(not passed), passed, 1.0, attempt)


def fed(*events: VerificationStart | VerificationEnd, start: int = 1) -> CheckFold:
    checks = CheckFold()
    for event in events:
        checks.feed(event, start=start)
    return checks


def test_nothing_decides_before_anything_was_judged() -> None:
    checks = CheckFold()
    assert (checks.last_attempt, checks.ended(), checks.judged_attempts()) == (0, (), 0)
    assert checks.deciding(1) == ()


def test_only_the_verify_phase_counts() -> None:
    phases: tuple[VerificationPhase, ...] = ("setup", "precheck", "baseline")
    for phase in phases:
        assert fed(started(phase=phase), ended(phase=phase)).last_attempt == 0


def test_an_attempt_decides_once_all_its_checks_have_ended() -> None:
    checks = fed(started("a"), started("b"), ended("b"))
    assert (checks.deciding(1), checks.judged_attempts()) == ((), 0)
    checks.feed(ended("a"), start=1)
    assert [result.name for result in checks.deciding(1)] == ["a", "b"]
    assert checks.judged_attempts() == 1


def test_an_end_without_a_start_still_counts() -> None:
    assert [result.passed for result in fed(ended(passed=False)).deciding(1)] == [False]


def test_checks_of_one_name_are_matched_in_order_of_start() -> None:
    checks = fed(started(), ended(passed=False), started(), ended(passed=True))
    assert [result.passed for result in checks.deciding(1)] == [False, True]


def test_a_judgement_repeated_after_a_resume_takes_the_place_of_the_one_before() -> None:
    checks = fed(started("a"), ended("a"), started("b"))
    for event in (started("a"), ended("a", passed=False)):
        checks.feed(event, start=2)
    assert [(result.name, result.passed) for result in checks.deciding(1)] == [("a", False)]


def test_a_resume_leaves_earlier_attempts_alone() -> None:
    checks = fed(started(attempt=1), ended(attempt=1, passed=False), started(attempt=2))
    for event in (started(attempt=2), ended(attempt=2)):
        checks.feed(event, start=2)
    assert [(result.attempt, result.passed) for result in checks.ended()] == [(1, False), (2, True)]
    assert (checks.last_attempt, checks.judged_attempts()) == (2, 2)
