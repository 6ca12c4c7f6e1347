"""What is remembered from night to night: which task was tried, at which commit, and what came of it.

Pure rules; `wiring/memory.py` keeps the file. A task that failed `MAX_FAILURES` times in a row at the same
specification and the same commit is left alone until one of them changes or a person says so. What a service
or a machine failed is no try of the task: it counts neither way.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from pi_batch.consequences import ON_ERROR
from pi_batch.errors import ErrorKind
from pi_batch.manifest import task_digest
from pi_batch.results import Outcome, RunResult
from pi_batch.spec import PlannedTask, to_json
from pi_batch.text import one_line

VERSION: Final = 1
MAX_FAILURES: Final = 3
KEPT_DAYS: Final = 400
"""What was not tried for so long is forgotten."""
REASON_CHARS: Final = 200
OF_THE_TASK: Final[frozenset[ErrorKind]] = frozenset(
    [kind for kind, row in ON_ERROR.items() if row.is_scored]
    + ["setup", "verification", "policy", "context_overflow", "request_too_large", "replay_diverged"]
)
"""Errors that come again at the same commit; all others may be gone the next night."""


class Tried(Struct, frozen=True):
    """One task, as it was tried last."""

    name: str
    """`suite/key`."""
    task_sha256: str
    """Of the task as it was run: everything that a change of would make it another try."""
    base: str
    """The commit that it began at; empty where there was none, or the files were not as committed."""
    outcome: Outcome
    reason: str
    ran_at: str
    """ISO 8601, UTC."""
    run_id: str
    failures: int = 0
    """In a row, at this task and base."""
    done_base: str = ""
    """The commit at which it last passed or had nothing to do."""


class Memory(Struct, frozen=True):
    """Everything that is remembered."""

    tasks: tuple[Tried, ...] = ()
    version: int = VERSION

    def of(self, name: str) -> Tried | None:
        """What is known of one task."""
        return next((one for one in self.tasks if one.name == name), None)

    def with_tried(self, tried: Tried) -> Memory:
        """The same with one more try; what is too old to matter is left out."""
        kept = (one for one in self.tasks if one.name != tried.name)
        recent = [one for one in kept if days_between(one.ran_at, tried.ran_at) <= KEPT_DAYS]
        return Memory((*recent, tried))


def name_of(task: PlannedTask) -> str:
    """A task's name in the memory."""
    return f"{task.planned.suite}/{task.planned.key}"


def task_sha256(task: PlannedTask) -> str:
    """What is to be done, by which model, within which limits, as a digest; no credentials are in it."""
    told = {"model": task.model, "spec": to_json(task.spec)}
    return task_digest(told)


def after(before: Tried | None, task: PlannedTask, result: RunResult, run_id: str) -> Tried | None:
    """What is to be remembered of a task that has ended; None where it was not tried."""
    if result.session is None or result.skipped_by in ("only_if", "left_alone", "budget"):
        return None
    if result.error is not None and result.outcome == "error" and result.error.kind not in OF_THE_TASK:
        return None
    is_as_committed = result.base_commit is not None and result.start_commit == result.base_commit
    base = (result.base_commit or "") if is_as_committed else ""
    digest = task_sha256(task)
    has_failed = result.outcome in ("failed", "error")
    is_same = before is not None and base != "" and (before.task_sha256, before.base) == (digest, base)
    earlier = before.failures if before is not None and is_same else 0
    done_base = before.done_base if before is not None else ""
    return Tried(
        name_of(task),
        digest,
        base,
        result.outcome,
        one_line(result.reason, REASON_CHARS),
        result.started_at or "",
        run_id,
        earlier + 1 if has_failed else 0,
        done_base if has_failed else base,
    )


def left_alone(tried: Tried | None, digest: str, base: str | None) -> str | None:
    """Why a task is not tried again, one line; None: it is."""
    if tried is None or tried.failures < MAX_FAILURES or not base:
        return None
    if (tried.task_sha256, tried.base) != (digest, base):
        return None
    return (
        f"left alone: failed {tried.failures} times at this commit ({base[:12]}) and specification, last on "
        f"{tried.ran_at[:10]} ({tried.reason}); a change of either, or --try-again, tries again"
    )


def too_early(tried: Tried | None, days: float, now: str) -> str | None:
    """Why `only_if.days` says no; None: it is time."""
    if tried is None:
        return None
    gone = days_between(tried.ran_at, now)
    if gone >= days - 1 / 24:  # a timer is never on the second
        return None
    return f"only_if: ran {gone:.1f} days ago, and every {days:g} is enough"


def days_between(first: str, last: str) -> float:
    """Days from one ISO 8601 time to another; very many where one cannot be read."""
    try:
        return (datetime.fromisoformat(last) - datetime.fromisoformat(first)) / timedelta(days=1)
    except (ValueError, TypeError):
        return float("inf")
