"""The outcome table: every failure has its row, and everything that decides follows the rows."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from pi_batch.consequences import ON_ERROR, ON_STOP, SCORED, UNKNOWN, Consequence, after_error
from pi_batch.errors import ErrorKind
from pi_batch.events import AgentEnd, TaskEnd
from pi_batch.outcome import Evidence, judge
from pi_batch.results import AgentStop, BudgetAmounts, RunError, VerificationResult

DOCS = Path(__file__).parent.parent / "docs" / "outcomes.md"
GREEN = VerificationResult("tests", "true", 0, True, 0.1, 1)
RED = replace(GREEN, exit_code=1, passed=False)
ENDED = TaskEnd(1.0, 1.0, BudgetAmounts())


def outcome_of(stop: AgentStop, check: VerificationResult, error: RunError | None = None) -> str:
    agent = AgentEnd(1, stop, "said", error)
    return judge(Evidence(ENDED, False, True, (check,), agent)).outcome


def test_every_error_kind_and_every_stop_has_a_row() -> None:
    assert set(ON_ERROR) == set(get_args(ErrorKind))
    assert set(ON_STOP) == set(get_args(AgentStop))


def test_what_is_scored_was_verified_and_what_is_retried_is_neither() -> None:
    for row in (*ON_ERROR.values(), *ON_STOP.values()):
        assert row.is_verified or not row.is_scored
        assert not (row.is_retried and (row.is_verified or row.is_scored))


def test_an_error_that_nobody_knows_is_not_scored() -> None:
    assert after_error("from_a_later_version") == UNKNOWN == Consequence(False, False, False)
    assert not ON_ERROR["internal"].is_scored


@pytest.mark.parametrize("kind", get_args(ErrorKind))
def test_the_verdict_after_an_error_follows_its_row(kind: ErrorKind) -> None:
    error = RunError(kind, "it failed")
    scored = {outcome_of("model_error", GREEN, error), outcome_of("model_error", RED, error)} <= SCORED
    assert scored == ON_ERROR[kind].is_scored


@pytest.mark.parametrize("stop", get_args(AgentStop))
def test_the_verdict_after_a_stop_follows_its_row(stop: AgentStop) -> None:
    scored = {outcome_of(stop, GREEN), outcome_of(stop, RED)} <= SCORED
    assert scored == ON_STOP[stop].is_scored


def test_a_reached_limit_is_verified_and_green_checks_pass_it() -> None:
    limits = [stop for stop in ON_STOP if stop.startswith("max_")]
    assert len(limits) == 5
    assert {outcome_of(stop, GREEN) for stop in limits} == {"passed"}
    assert {outcome_of(stop, RED) for stop in limits} == {"failed"}


def test_the_page_shows_the_tables_as_they_are() -> None:
    shown = DOCS.read_text(encoding="utf-8")

    def line(name: str, row: Consequence) -> str:
        return f"| `{name}` | {' | '.join('yes' if cell else 'no' for cell in row)} |"

    every = [line(name, row) for name, row in (*ON_ERROR.items(), *ON_STOP.items()) if name != "model_error"]
    assert [text for text in every if text not in shown] == []
