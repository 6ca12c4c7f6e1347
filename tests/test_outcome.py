"""Who decides, in which order, and what the process exits with."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from pi_batch.errors import ErrorKind
from pi_batch.events import AgentEnd, TaskEnd
from pi_batch.outcome import LIMIT_STOPS, MODEL_FAULTS, Evidence, Verdict, exit_code, judge
from pi_batch.results import AgentStop, BudgetAmounts, RunError, VerificationResult

ENDED = TaskEnd(1.0, 1.0, BudgetAmounts())
DONE = AgentEnd(1, "completed", "done")
GREEN = VerificationResult("tests", "pytest -q", 0, True, 1.0, 1)
RED = replace(GREEN, exit_code=1, passed=False, message="exit code 1")
UNKNOWABLE = replace(RED, error=RunError("verification", "no test was collected"))


def evidence(
    *checks: VerificationResult,
    end: TaskEnd | None = ENDED,
    agent: AgentEnd | None = DONE,
    has_checks: bool | None = None,
    is_interrupted: bool = False,
) -> Evidence:
    return Evidence(end, is_interrupted, bool(checks) if has_checks is None else has_checks, checks, agent)


def stopped(stop: AgentStop, error: RunError | None = None, answer: str | None = "partial") -> AgentEnd:
    return AgentEnd(1, stop, answer, error)


def test_green_checks_pass() -> None:
    assert judge(evidence(GREEN)) == Verdict("passed", "1 of 1 check passed", is_verified=True)
    assert judge(evidence(GREEN, GREEN, GREEN)).reason == "3 of 3 checks passed"


def test_one_red_check_fails_whatever_the_model_said() -> None:
    verdict = judge(evidence(GREEN, RED))
    assert (verdict.outcome, verdict.is_verified) == ("failed", False)
    assert verdict.reason == "tests: exit code 1"


def test_several_red_checks_are_counted_in_the_reason() -> None:
    assert judge(evidence(RED, RED, GREEN)).reason == "tests: exit code 1 (and 1 more of 3 checks)"


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (replace(RED, message="", exit_code=5), "tests: exit code 5"),
        (replace(RED, message="", exit_code=None), "tests: did not pass"),
        (replace(RED, message="timed out\nafter 3 s"), "tests: timed out after 3 s"),
    ],
)
def test_a_red_check_always_says_how(check: VerificationResult, reason: str) -> None:
    assert judge(evidence(check)).reason == reason


def test_a_check_that_could_not_be_judged_is_an_error_even_beside_a_red_one() -> None:
    verdict = judge(evidence(RED, UNKNOWABLE))
    assert (verdict.outcome, verdict.error) == ("error", RunError("verification", "no test was collected"))
    assert verdict.reason == "tests: no test was collected"


@pytest.mark.parametrize("stop", sorted(LIMIT_STOPS))
def test_a_limit_does_not_decide_where_there_are_checks(stop: AgentStop) -> None:
    verdict = judge(evidence(GREEN, agent=stopped(stop)))
    assert (verdict.outcome, verdict.is_verified) == ("passed", True)
    assert verdict.reason == f"stopped at {stop}, 1 of 1 check passed"
    assert judge(evidence(RED, agent=stopped(stop))).outcome == "failed"


@pytest.mark.parametrize("stop", sorted(LIMIT_STOPS))
def test_a_limit_without_checks_fails_and_names_the_limit(stop: AgentStop) -> None:
    verdict = judge(evidence(agent=stopped(stop)))
    assert (verdict.outcome, verdict.is_verified) == ("failed", False)
    assert stop in verdict.reason


def test_a_limit_stays_a_limit_when_the_engine_adds_what_it_cut_short() -> None:
    timeout = RunError("timeout", "the request was cut")
    assert judge(evidence(GREEN, agent=stopped("max_wall_time", timeout))).outcome == "passed"
    assert judge(evidence(agent=stopped("max_wall_time", timeout))).outcome == "failed"


def test_without_checks_a_finished_reply_passes_unverified() -> None:
    assert judge(evidence()) == Verdict("passed", "no check: unverified")


@pytest.mark.parametrize("answer", [None, "", " \n\t "])
def test_an_empty_final_reply_is_never_a_success_by_itself(answer: str | None) -> None:
    assert judge(evidence(agent=AgentEnd(1, "completed", answer))).outcome == "failed"
    assert judge(evidence(GREEN, agent=AgentEnd(1, "completed", answer))).outcome == "passed"


@pytest.mark.parametrize("kind", get_args(ErrorKind))
def test_a_model_error_fails_when_it_is_the_models_own_answer_and_is_an_error_otherwise(
    kind: ErrorKind,
) -> None:
    error = RunError(kind, "what happened")
    verdict = judge(evidence(agent=stopped("model_error", error)))
    assert verdict.outcome == ("failed" if kind in MODEL_FAULTS else "error")
    assert (verdict.error, verdict.reason) == (error, "what happened")


@pytest.mark.parametrize("kind", sorted(MODEL_FAULTS))
def test_green_checks_outweigh_a_cut_or_refused_reply_and_the_report_keeps_it(kind: ErrorKind) -> None:
    error = RunError(kind, "cut")
    verdict = judge(evidence(GREEN, agent=stopped("model_error", error)))
    assert (verdict.outcome, verdict.error) == ("passed", error)


def test_green_checks_do_not_outweigh_a_broken_service() -> None:
    agent = stopped("model_error", RunError("network", "connection reset"))
    assert judge(evidence(GREEN, agent=agent)).outcome == "error"


def test_a_model_error_that_nobody_recorded_is_an_error() -> None:
    assert judge(evidence(agent=stopped("model_error"))).outcome == "error"


def test_a_cancelled_agent_is_an_error_and_green_checks_do_not_change_that() -> None:
    verdict = judge(evidence(GREEN, agent=stopped("cancelled")))
    assert verdict.outcome == "error"
    assert verdict.error is not None
    assert verdict.error.kind == "cancelled"


def test_the_tasks_own_error_outranks_everything_that_went_well() -> None:
    setup = RunError("setup", "pip install: exit code 1")
    verdict = judge(evidence(GREEN, end=replace(ENDED, error=setup, skip_reason="nothing to do")))
    assert (verdict.outcome, verdict.error, verdict.reason) == ("error", setup, setup.message)


def test_an_error_without_words_is_named_by_its_kind() -> None:
    assert judge(evidence(end=replace(ENDED, error=RunError("workspace", " ")))).reason == "workspace"


def test_a_skip_gives_its_reason() -> None:
    verdict = judge(evidence(agent=None, end=replace(ENDED, skip_reason="precheck\npasses")))
    assert (verdict.outcome, verdict.reason) == ("skipped", "precheck passes")
    assert judge(evidence(agent=None, end=replace(ENDED, skip_reason=""))).reason == "skipped"


def test_a_log_that_ends_early_is_an_error_though_everything_in_it_is_green() -> None:
    verdict = judge(evidence(GREEN, end=None))
    assert (verdict.outcome, verdict.is_verified) == ("error", False)
    assert verdict.error == RunError("internal", "the log ends before the task did")


def test_an_interrupted_run_calls_its_unfinished_tasks_cancelled() -> None:
    verdict = judge(evidence(GREEN, end=None, is_interrupted=True))
    assert verdict.error is not None
    assert (verdict.outcome, verdict.error.kind) == ("error", "cancelled")


def test_checks_that_never_ended_are_no_verdict() -> None:
    verdict = judge(evidence(has_checks=True))
    assert verdict.outcome == "error"
    assert verdict.error is not None
    assert verdict.error.kind == "verification"


def test_a_task_where_no_agent_ran_and_nothing_was_checked_is_an_error() -> None:
    assert judge(evidence(agent=None)).outcome == "error"


def test_checks_decide_where_no_agent_ran() -> None:
    assert judge(evidence(GREEN, agent=None)) == Verdict("passed", "1 of 1 check passed", is_verified=True)


def test_a_reason_is_one_line_of_at_most_300_characters() -> None:
    long = RunError("internal", "word\n" * 1000)
    reason = judge(evidence(end=replace(ENDED, error=long))).reason
    assert len(reason) <= 300
    assert "\n" not in reason
    assert reason.endswith("…")


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((), 0),
        (("passed", "skipped"), 0),
        (("passed", "failed"), 1),
        (("passed", "failed", "error"), 3),
    ],
)
def test_an_error_outranks_a_failure_in_the_exit_code(outcomes: tuple[str, ...], expected: int) -> None:
    assert exit_code(outcomes, missing=0, is_starved=False) == expected  # type: ignore[arg-type]


def test_skipping_for_want_of_budget_exits_1() -> None:
    assert exit_code(["passed", "skipped"], missing=0, is_starved=True) == 1


def test_a_planned_result_that_is_missing_exits_3() -> None:
    assert exit_code(["passed"], missing=1, is_starved=False) == 3


@pytest.mark.parametrize("code", [130, 143])
def test_a_signal_gives_the_exit_code(code: int) -> None:
    interrupted = exit_code(["error"], missing=3, is_starved=True, is_interrupted=True, signal_exit_code=code)
    assert interrupted == code


def test_an_interruption_without_a_signal_is_an_error() -> None:
    assert exit_code(["passed"], missing=0, is_starved=False, is_interrupted=True) == 3
