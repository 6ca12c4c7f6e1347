"""What proves a benchmark suite: which trial must come out how, and what each task's came to.

A task is proven when its reference solution and every alternative pass, every known mistake and every cheat
fails, doing nothing fails, and each says the same however often it is repeated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.load.keys import model_slug, result_key
from pi_batch.results import BatchResult, RunResult
from pi_batch.spec import PlannedTask

Wanted = Literal["passed", "failed"]
ALTERNATIVES, MISTAKES = "alternatives", "mistakes"
"""Directories beside a spec: other right solutions, and wrong ones that come close."""


class TrialProof(Struct, frozen=True):
    """One model on one task."""

    model: str
    wanted: Wanted
    outcomes: tuple[str, ...]
    """Of each repeat."""
    reason: str = ""
    """Why it is not as wanted; empty when it is."""


class TaskProof(Struct, frozen=True):
    """One task on trial."""

    task_id: str
    title: str
    tags: tuple[str, ...]
    digest: str
    trials: tuple[TrialProof, ...]
    problems: tuple[str, ...]
    """One line each; empty when the task is proven."""
    duration_s: float
    """Of all its trials together."""

    def count(self, models: str) -> tuple[int, int]:
        """(as wanted, all) of the trials whose model begins so."""
        chosen = [one for one in self.trials if one.model == models or one.model.startswith(f"{models}/")]
        return sum(not one.reason for one in chosen), len(chosen)


class SuiteProof(Struct, frozen=True):
    """A suite on trial."""

    suite: str
    edition: str
    is_proven: bool
    is_error: bool
    """True when a trial could not be made at all."""
    sandbox: str
    tasks: tuple[TaskProof, ...]
    duration_s: float


def models_for(task: PlannedTask, cheats: Sequence[str]) -> Iterator[tuple[str, Wanted]]:
    """The models that a task is tried with, and what is wanted of each."""
    yield "oracle", "passed"
    yield "nop", "failed"
    for kind, wanted in ((ALTERNATIVES, "passed"), (MISTAKES, "failed")):
        directory = Path(task.spec_dir, kind)
        names = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
        for name in names:
            yield f"oracle/{kind}/{name}", "passed" if wanted == "passed" else "failed"
    for cheat in cheats:
        yield f"tamper/{cheat}", "failed"


def trial(task: PlannedTask, model: str, repeat: int, *, shows_repeat: bool) -> PlannedTask:
    """A planned task for another model."""
    key = result_key(task.planned.task_id, model_slug(model), None, repeat if shows_repeat else None)
    planned = replace(
        task.planned, key=key, model=model, repeat=repeat, shows_model=True, shows_repeat=shows_repeat
    )
    return replace(task, planned=planned, model=model)


def prove(
    tasks: Sequence[PlannedTask],
    wanted: dict[str, dict[str, Wanted]],
    batch: BatchResult,
    exposed: dict[str, tuple[str, ...]],
) -> SuiteProof:
    """Compare what trials came to with what was wanted of them.

    Args:
        tasks: those of the suite, each once.
        wanted: by task id and model.
        batch: the trials' results.
        exposed: by task id, what its workspace shows that it should not.
    """
    results: dict[str, dict[str, list[RunResult]]] = defaultdict(lambda: defaultdict(list))
    for result in batch.results:
        results[result.task_id][result.model].append(result)
    proofs = tuple(
        _task_proof(task, wanted[task.planned.task_id], results[task.planned.task_id], exposed)
        for task in tasks
    )
    sandboxes = {one.sandbox.name for one in batch.results if one.sandbox is not None}
    return SuiteProof(
        suite=tasks[0].planned.suite,
        edition=tasks[0].planned.edition,
        is_proven=not any(proof.problems for proof in proofs) and batch.status == "complete",
        is_error=any(one.outcome == "error" for one in batch.results) or batch.status != "complete",
        sandbox=", ".join(sorted(sandboxes)),
        tasks=proofs,
        duration_s=batch.duration_s,
    )


def _task_proof(
    task: PlannedTask,
    wanted: dict[str, Wanted],
    results: dict[str, list[RunResult]],
    exposed: dict[str, tuple[str, ...]],
) -> TaskProof:
    planned = task.planned
    trials = tuple(_trial_proof(model, outcome, results[model]) for model, outcome in wanted.items())
    problems = [f"{one.model}: {one.reason}" for one in trials if one.reason]
    return TaskProof(
        planned.task_id,
        planned.title,
        planned.tags,
        planned.digest,
        trials,
        (*exposed.get(planned.task_id, ()), *problems),
        round(sum(one.duration_s for group in results.values() for one in group), 3),
    )


def _trial_proof(model: str, wanted: Wanted, results: Sequence[RunResult]) -> TrialProof:
    outcomes = tuple(one.outcome for one in results)
    reason = ""
    wrong = [one for one in results if one.outcome != wanted]
    if not results:
        reason = "was not run"
    elif wrong:
        reason = f"{wrong[0].outcome}, need {wanted} ({wrong[0].reason})"
        reason += f" in {len(wrong)} of {len(results)} repeats" if len(results) > 1 else ""
    elif wanted == "failed" and not all(one.verification for one in results):
        reason = "failed before any check was run"
    elif len({_said(one) for one in results}) > 1:
        reason = "its checks do not say the same each time"
    elif not all(one.sandbox is not None and one.sandbox.layers for one in results):
        reason = "was run without a sandbox, so hidden files could be read"
    return TrialProof(model, wanted, outcomes, reason)


def _said(result: RunResult) -> tuple[tuple[str, bool, int | None], ...]:
    return tuple((check.name, check.passed, check.exit_code) for check in result.verification)
