"""One row per planned result, as every report shows it: a name of its own, an outcome, a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from pi_batch.result_words import outcome_word
from pi_batch.results import BatchResult, PlannedResult, RunResult

ReadLog = Callable[[str], str]
"""The end of a log, given its path relative to run.json; empty where there is none."""


class Row(Struct, frozen=True):
    """A planned result beside what came of it."""

    key: str
    name: str
    """`id (repository) [model] #repeat`, the latter three where the plan has several; unique in its suite."""
    suite: str
    spec: str
    outcome: Literal["passed", "failed", "error", "skipped", "missing"]
    reason: str
    result: RunResult | None
    """None for a planned key without a result."""

    @property
    def word(self) -> str:
        """The outcome as a person reads it; passing without a check is no `passed`."""
        return outcome_word(self.result) if self.result is not None else "not run"


def rows(batch: BatchResult) -> tuple[Row, ...]:
    """Every planned key in the plan's order, then results that no plan named."""
    results = {result.key: result for result in batch.results}
    plan = {planned.key: planned for planned in batch.planned}
    plan |= {key: _planned(result) for key, result in results.items() if key not in plan}
    names = Counter((planned.suite, _name(planned)) for planned in plan.values())
    return tuple(
        _row(
            planned,
            results.get(key),
            name=_name(planned) if names[planned.suite, _name(planned)] == 1 else f"{_name(planned)} ({key})",
            missing=_why_missing(batch),
        )
        for key, planned in plan.items()
    )


def _row(planned: PlannedResult, result: RunResult | None, *, name: str, missing: str) -> Row:
    return Row(
        key=planned.key,
        name=name,
        suite=planned.suite or planned.task_id,
        spec=planned.spec,
        outcome=result.outcome if result is not None else "missing",
        reason=(result.reason.strip() or result.outcome) if result is not None else missing,
        result=result,
    )


def _name(planned: PlannedResult) -> str:
    model = f" [{planned.model}]" if planned.shows_model else ""
    repeat = f" #{planned.repeat}" if planned.shows_repeat else ""
    repo = f" ({planned.repo_name})" if planned.repo_name else ""
    return f"{planned.task_id}{repo}{model}{repeat}"


def _why_missing(batch: BatchResult) -> str:
    match batch.status:
        case "interrupted":
            return "not run: the run was interrupted"
        case "running":
            return "not run: the run has not ended"
        case "complete":
            return "not run: the run ended without it"


def _planned(result: RunResult) -> PlannedResult:
    """The plan's side of a result that no plan named."""
    return PlannedResult(
        key=result.key,
        task_id=result.task_id,
        title=result.title,
        spec=result.spec,
        spec_sha256=result.spec_sha256,
        model=result.model,
        suite=result.suite,
        repo_name=result.repo_name,
        digest=result.digest,
        edition=result.edition,
    )
