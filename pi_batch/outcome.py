"""Who decides: from what is known of a task to its outcome, and from all outcomes to the exit code.

Pure functions; `fold.py` collects what they need. In this order, the first that applies:

    the log ends before the task did        error      never passed
    the task ended in an error              error
    skipped                                 skipped
    the agent was cancelled, or the model
    service failed it                       error
    checks of the last attempt, all ended   passed, failed, or error where one could not be judged
    checks that never came to an end        error
    no checks: what was denied last of a
    tool's calls was not done otherwise     failed
    no checks: finished with a reply        passed     unverified
    no checks: a limit, no or a cut reply   failed
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from pi_batch.consequences import ON_ERROR, ON_STOP, SCORED
from pi_batch.errors import ErrorKind
from pi_batch.events import AgentEnd, TaskEnd
from pi_batch.messages import Usage
from pi_batch.results import AgentStop, Outcome, RunError, RunResult, Totals, VerificationResult
from pi_batch.text import one_line

MODEL_FAULTS: frozenset[ErrorKind] = frozenset(kind for kind, row in ON_ERROR.items() if row.is_scored)
"""Errors that are the model's own answer; every other error kind means that something else broke."""

LIMIT_STOPS: frozenset[AgentStop] = frozenset(
    stop for stop, row in ON_STOP.items() if row.is_verified and stop != "completed"
)
"""Stops that are no error of their own: checks decide, and without checks the task failed."""

READ_MAX_CHARS = 30_000

INTERRUPTED_EXIT_CODES = frozenset({130, 143})


class Evidence(Struct, frozen=True):
    """What the stream says about one task that has started."""

    end: TaskEnd | None
    """None when the log ends before the task did."""
    is_interrupted: bool
    """True when a signal ended the run."""
    has_checks: bool
    """True when the spec has checks, whether or not one ran."""
    checks: tuple[VerificationResult, ...]
    """Of the last attempt; empty unless every check that started has ended."""
    agent: AgentEnd | None
    """Of the last attempt; None when it did not end."""
    denied: str = ""
    """The rule that refused a call, where no later call of its tool was carried out."""


class Verdict(Struct, frozen=True):
    """The outcome and why."""

    outcome: Outcome
    reason: str
    """One line, never blank."""
    is_verified: bool = False
    error: RunError | None = None


def judge(evidence: Evidence) -> Verdict:
    """What came of one task."""
    error = _error_before_checks(evidence)
    if error is not None:
        return _error(error)
    if evidence.end is not None and evidence.end.skip_reason is not None:
        return Verdict("skipped", _line(evidence.end.skip_reason) or "skipped")
    if evidence.checks:
        return _by_checks(evidence.checks, evidence.agent)
    if evidence.has_checks:
        return _error(
            RunError("verification", "no verdict: the checks of the last attempt did not run to their end")
        )
    if evidence.agent is None:
        return _error(RunError("internal", "no agent ran to its end, and there is no check"))
    return _without_checks(evidence.agent, evidence.denied)


def exit_code(
    outcomes: Iterable[Outcome],
    *,
    missing: int,
    is_starved: bool,
    is_interrupted: bool = False,
    signal_exit_code: int | None = None,
) -> int:
    """The process's exit code: a signal's own code, else 3 over 1 over 0.

    `missing` counts planned keys without a result; `is_starved` says that the suite's budget ran out
    before some task could start. An empty selection (4) never gets this far.
    """
    if is_interrupted and signal_exit_code in INTERRUPTED_EXIT_CODES:
        return signal_exit_code
    seen = set(outcomes)
    if "error" in seen or missing or is_interrupted:
        return 3
    return 1 if "failed" in seen or is_starved else 0


def total(results: Sequence[RunResult], planned: int) -> Totals:
    """Sums over results; `planned` counts the keys of the plan."""
    count = dict.fromkeys(("passed", "failed", "error", "skipped"), 0)
    usage, cost = Usage(), 0.0
    is_cost_known = True
    for result in results:
        count[result.outcome] += 1
        usage += result.usage
        is_cost_known = is_cost_known and result.total_cost_usd is not None
        cost += result.total_cost_usd or 0.0
    return Totals(
        planned=planned,
        passed=count["passed"],
        failed=count["failed"],
        error=count["error"],
        skipped=count["skipped"],
        missing=max(planned - len(results), 0),
        scored=sum(count[outcome] for outcome in SCORED),
        unverified=sum(result.outcome == "passed" and not result.verified for result in results),
        num_turns=sum(result.num_turns for result in results),
        usage=usage,
        total_cost_usd=cost if is_cost_known else None,
    )


def _line(text: str) -> str:
    """One line of at most 300 characters; of megabytes only the beginning is looked at."""
    return one_line(text[:READ_MAX_CHARS])


def _error(error: RunError) -> Verdict:
    return Verdict("error", _line(error.message) or error.kind, error=error)


def _error_before_checks(evidence: Evidence) -> RunError | None:
    """The error that no green check can outweigh."""
    if evidence.end is None:
        if evidence.is_interrupted:
            return RunError("cancelled", "the run was interrupted before the task ended")
        return RunError("internal", "the log ends before the task did")
    if evidence.end.error is not None:
        return evidence.end.error
    if evidence.agent is None or evidence.end.skip_reason is not None:
        return None
    return _agent_error(evidence.agent)


def _agent_error(agent: AgentEnd) -> RunError | None:
    """An error on the way to the model; None when the model itself is to blame, or nothing is."""
    if agent.stop in LIMIT_STOPS:
        return None
    if agent.stop == "cancelled":
        return agent.error or RunError("cancelled", "the agent was cancelled")
    if agent.error is not None:
        return None if agent.error.kind in MODEL_FAULTS else agent.error
    if agent.stop == "model_error":
        return RunError("internal", "the agent stopped on a model error that was not recorded")
    return None


def _by_checks(checks: Sequence[VerificationResult], agent: AgentEnd | None) -> Verdict:
    count = f"{len(checks)} of {len(checks)} checks" if len(checks) > 1 else "1 of 1 check"
    stopped = "" if agent is None or agent.stop == "completed" else f"stopped at {agent.stop}, "
    carried = agent.error if agent is not None else None
    for check in checks:
        if check.error is not None:
            message = f"{check.name}: {check.error.message or check.error.kind}"
            return Verdict("error", _line(message), error=check.error)
    failing = [check for check in checks if not check.passed]
    if not failing:
        return Verdict("passed", f"{stopped}{count} passed", is_verified=True, error=carried)
    others = f" (and {len(failing) - 1} more of {len(checks)} checks)" if len(failing) > 1 else ""
    return Verdict("failed", _line(f"{stopped}{failing_check(failing[0])}{others}"), error=carried)


def failing_check(check: VerificationResult) -> str:
    """One line: which check did not pass, and how."""
    how = check.message or (f"exit code {check.exit_code}" if check.exit_code is not None else "did not pass")
    return _line(f"{check.name}: {how}")


def _without_checks(agent: AgentEnd, denied: str) -> Verdict:
    if agent.stop in LIMIT_STOPS:
        return Verdict(
            "failed", f"stopped at {agent.stop}, and there is no check to decide", error=agent.error
        )
    if agent.error is not None:
        return Verdict("failed", _line(agent.error.message) or agent.error.kind, error=agent.error)
    if not (agent.answer or "").strip():
        return Verdict("failed", "the final reply was empty, and there is no check to decide")
    if denied:
        return Verdict("failed", _line(f"denied by {denied}, and there is no check to decide"))
    return Verdict("passed", "no check: unverified")
