"""`pi-batch suite check`: what a suite's trials came to, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pi_batch.encoders import plain_line
from pi_batch.suite_proof import SuiteProof, TaskProof

TITLES = ("", "task", "tags", "digest", "solutions", "nop", "mistakes", "cheats", "time")
NUMBERS = frozenset({"solutions", "nop", "mistakes", "cheats", "time"})


def render_proof(proof: SuiteProof) -> str:
    """One line a task, what is wrong below, and the verdict; ends in a newline."""
    rows = [TITLES, *(_cells(task) for task in proof.tasks)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(TITLES))]
    lines = [_line(row, widths) for row in rows]
    problems = [
        plain_line(f"{task.task_id}: {problem}", 400) for task in proof.tasks for problem in task.problems
    ]
    return "\n".join((*lines, "", *problems, *([""] if problems else []), *_verdict(proof))) + "\n"


def _verdict(proof: SuiteProof) -> Iterator[str]:
    good = sum(not task.problems for task in proof.tasks)
    trials = sum(len(trial.outcomes) for task in proof.tasks for trial in task.trials)
    edition = f" edition {plain_line(proof.edition, 40)}" if proof.edition else ""
    yield (
        f"{plain_line(proof.suite, 60)}{edition}: {good} of {len(proof.tasks)} tasks proven · "
        f"{trials} trials · {proof.duration_s:.1f} s · sandbox {proof.sandbox or 'none'}"
    )


def _cells(task: TaskProof) -> tuple[str, ...]:
    nop, cheats = (_share(*task.count(models)) for models in ("nop", "tamper"))
    right = [one for one in task.trials if one.wanted == "passed"]
    wrong = [one for one in task.trials if one.wanted == "failed" and one.model.startswith("oracle/")]
    solutions = _share(sum(not one.reason for one in right), len(right))
    mistakes = _share(sum(not one.reason for one in wrong), len(wrong)) if wrong else "-"
    return (
        "no" if task.problems else "ok",
        plain_line(task.task_id, 60),
        plain_line(", ".join(task.tags), 40),
        task.digest[:12],
        solutions,
        nop,
        mistakes,
        cheats,
        f"{task.duration_s:.1f} s",
    )


def _share(good: int, all_of_them: int) -> str:
    return f"{good}/{all_of_them}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (
        text.rjust(width) if title in NUMBERS else text.ljust(width)
        for title, text, width in zip(TITLES, row, widths, strict=True)
    )
    return "  ".join(cells).rstrip()
