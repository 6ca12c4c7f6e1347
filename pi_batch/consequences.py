"""What follows from each way that a trial can fail: is it retried, are its checks run, does it count?

One row a failure. Retried: the request is made again, within the budget, as long as the service's answer does
not forbid it. Verified: the checks are run on the work as it stands. Scored: the trial counts in the pass
rate, as passed or failed; what is not scored stays in the plan's denominator, and reports show both.

A failure of the model is scored, one of anything else is not; what nobody knows is not the model's.
`docs/outcomes.md` shows these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from pi_batch.errors import ErrorKind
from pi_batch.results import AgentStop, Outcome


class Consequence(NamedTuple):
    """A row: what is done about a failure."""

    is_retried: bool
    is_verified: bool
    is_scored: bool


def _row(retried: str, verified: str, scored: str) -> Consequence:
    return Consequence(retried == "retried", verified == "verified", scored == "scored")


ON_ERROR: Final[Mapping[ErrorKind, Consequence]] = {
    # the service, for a while
    "rate_limit": _row("retried", "-", "-"),
    "overloaded": _row("retried", "-", "-"),
    "server_error": _row("retried", "-", "-"),
    "network": _row("retried", "-", "-"),
    "timeout": _row("retried", "-", "-"),
    "stream_interrupted": _row("retried", "-", "-"),
    "bad_response": _row("retried", "-", "-"),
    # the service, for good
    "auth": _row("-", "-", "-"),
    "permission": _row("-", "-", "-"),
    "quota": _row("-", "-", "-"),
    "model_not_found": _row("-", "-", "-"),
    "invalid_request": _row("-", "-", "-"),
    "request_too_large": _row("-", "-", "-"),
    "context_overflow": _row("-", "-", "-"),
    "price_unknown": _row("-", "-", "-"),
    # the model
    "content_filter": _row("-", "verified", "scored"),
    "refusal": _row("-", "verified", "scored"),
    "length": _row("-", "verified", "scored"),
    "malformed_tool_call": _row("-", "verified", "scored"),
    # what surrounds it
    "sandbox_unavailable": _row("-", "-", "-"),
    "mcp_unavailable": _row("-", "-", "-"),
    "workspace": _row("-", "-", "-"),
    "setup": _row("-", "-", "-"),
    "verification": _row("-", "-", "-"),
    "policy": _row("-", "verified", "-"),
    "replay_diverged": _row("-", "-", "-"),
    "cancelled": _row("-", "-", "-"),
    "internal": _row("-", "-", "-"),
}
"""By `error.kind`."""

ON_STOP: Final[Mapping[AgentStop, Consequence]] = {
    "completed": _row("-", "verified", "scored"),
    "max_turns": _row("-", "verified", "scored"),
    "max_tokens": _row("-", "verified", "scored"),
    "max_cost": _row("-", "verified", "scored"),
    "max_wall_time": _row("-", "verified", "scored"),
    "max_tool_calls": _row("-", "verified", "scored"),
    "repeated_calls": _row("-", "verified", "scored"),
    "model_error": _row("-", "-", "-"),  # unless its error.kind says otherwise
    "cancelled": _row("-", "-", "-"),
}
"""By `stop`, where no error says more."""

UNKNOWN: Final = _row("-", "-", "-")
"""Of a failure that this version has no name for."""

SCORED: Final[frozenset[Outcome]] = frozenset({"passed", "failed"})
"""Outcomes that count in the pass rate."""


def after_error(kind: str) -> Consequence:
    """The row of an error's kind; one that is not known is neither retried nor scored."""
    return next((row for name, row in ON_ERROR.items() if name == kind), UNKNOWN)
