"""What GitHub's runner is told of a run: annotations, folded details, and the outputs of a step.

Annotations are commands on standard output; ten of a level are shown a step, so that the tenth counts the
rest. Foreign text between groups stands inside a stop-commands pair with a random word, and is defused line
by line all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from pi_batch.encoders import keep_head, plain_line, workflow_command, workflow_safe
from pi_batch.reports.details import details
from pi_batch.reports.rows import ReadLog, Row, rows
from pi_batch.result_words import counts
from pi_batch.results import BatchResult, RunResult, VerificationResult

ANNOTATIONS_MAX = 10
"""Of one level in one step; the runner drops more. Source: GitHub's docs on limits of annotations."""
GROUPS_MAX = 30
GROUP_MAX_BYTES = 20_000
ANSWER_MAX_BYTES = 64 * 1024
OUTPUT_MAX_BYTES = 256 * 1024
"""For one value: all outputs of a job together may take 1 MiB."""
CHANGED_FILES_MAX = 2000

_PLACES = (
    re.compile(r"""^\s*File "(?P<path>[^"\n]{1,400})", line (?P<line>\d{1,7})""", re.MULTILINE),
    re.compile(
        r"^\s*(?:-->\s*)?(?P<path>[\w./@+-]{1,400}\.\w{1,12}):(?P<line>\d{1,7})(?=:|\s|$)", re.MULTILINE
    ),
)
"""Where Python, and where most compilers, linters and test runners say that something is wrong."""


class Place(Struct, frozen=True):
    """A line of a file of the repository."""

    path: str
    """Relative to the repository's root."""
    line: int | None = None


class ActionsReport:
    """A run for GitHub's runner; texts are masked before they get here.

    `find` gives a path that a log or a spec names as one relative to the repository, or None where the
    repository has no such file.
    """

    def __init__(self, read_log: ReadLog, find: Callable[[str], str | None]) -> None:
        self._read_log = read_log
        self._find = find

    def annotations(self, batch: BatchResult) -> str:
        """One line per task that did not pass, and per warning; at most ten of each, the last counting."""
        bad = [row for row in rows(batch) if row.outcome in {"failed", "error", "missing"}]
        errors = [self._error(row) for row in bad[:ANNOTATIONS_MAX]]
        if len(bad) > ANNOTATIONS_MAX:
            more = len(bad) - ANNOTATIONS_MAX + 1
            said = f"{more} more tasks did not pass: all of them are in the log and in the reports."
            errors[-1] = workflow_command("error", said, {"title": "pi-batch"})
        return "".join(f"{line}\n" for line in [*errors, *_warnings(batch)])

    def groups(self, batch: BatchResult, word: str) -> str:
        """The details of what did not pass, folded; `word` is random and ends the text of each."""
        bad = [row for row in rows(batch) if row.outcome in {"failed", "error"}]
        folded = [self._group(row, word) for row in bad[:GROUPS_MAX]]
        more = len(bad) - GROUPS_MAX
        rest = [f"Details of {more} more tasks are in the reports.\n"] if more > 0 else []
        return "".join([*folded, *rest])

    def _group(self, row: Row, word: str) -> str:
        title = f"{row.word}: {plain_line(row.name, 100)}"
        text = workflow_safe(details(row, self._read_log, GROUP_MAX_BYTES)).replace(word, "")
        return (
            f"{workflow_command('group', title)}\n{workflow_command('stop-commands', word)}\n"
            f"{text}\n::{word}::\n::endgroup::\n"
        )

    def _error(self, row: Row) -> str:
        place = self._place(row)
        line = str(place.line) if place.line is not None else ""
        title = f"{row.word}: {plain_line(row.name, 80)}"
        return workflow_command(
            "error", plain_line(row.reason, 500), {"file": place.path, "line": line, "title": title}
        )

    def _place(self, row: Row) -> Place:
        """The last line of the failing checks' logs that is in the repository; else the spec."""
        for check in _failing(row.result):
            found = self._place_in(self._read_log(check.log or ""))
            if found is not None:
                return found
        return Place(self._find(row.spec) or "")

    def _place_in(self, log: str) -> Place | None:
        named = [match for pattern in _PLACES for match in pattern.finditer(log)]
        for match in sorted(named, key=lambda found: found.start(), reverse=True)[:100]:
            path = self._find(match["path"])
            if path is not None:
                return Place(path, int(match["line"]))
        return None


def step_outputs(batch: BatchResult, paths: Mapping[str, str]) -> dict[str, str]:
    """The outputs of a step by their documented names, the empty ones included.

    `paths` names the run's files as later steps find them: report, junit, patch. What would be too long is
    cut, or left out where a part of it would be wrong.
    """
    only = batch.results[0] if len(batch.results) == 1 else None
    structured = only.structured_output if only is not None else None
    cost = batch.totals.total_cost_usd
    values = {
        "outcome": _outcome(batch),
        "exit-code": str(batch.exit_code),
        "summary": counts(batch.totals),
        "changed-files": _changed_files(batch.results),
        "answer": keep_head((only.answer or "") if only is not None else "", ANSWER_MAX_BYTES),
        "structured-output": "" if structured is None else json.dumps(structured),
        "total-cost-usd": "" if cost is None else f"{cost:.6f}",
        **{name: paths.get(name, "") for name in ("report", "junit", "patch")},
    }
    return {name: value if len(value.encode()) <= OUTPUT_MAX_BYTES else "" for name, value in values.items()}


def _outcome(batch: BatchResult) -> str:
    """The run's outcome: what is worst decides; a run without a result that counts is `skipped`."""
    totals = batch.totals
    if totals.error or totals.missing:
        return "error"
    if totals.failed or batch.exit_code == 1:
        return "failed"
    return "passed" if totals.passed else "skipped"


def _changed_files(results: Sequence[RunResult]) -> str:
    """One path a line, each once, as many as fit; a path that is no line of its own is left to the report."""
    paths = dict.fromkeys(file.path for result in results for file in result.changed_files)
    lines: list[str] = []
    room = OUTPUT_MAX_BYTES
    for path in [path for path in paths if "\n" not in path and "\r" not in path][:CHANGED_FILES_MAX]:
        room -= len(path.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        lines.append(path)
    return "\n".join(lines)


def _failing(result: RunResult | None) -> list[VerificationResult]:
    """The last attempt's checks that did not pass and left a log."""
    if result is None:
        return []
    last = max((check.attempt for check in result.verification), default=0)
    return [
        check for check in result.verification if check.attempt == last and not check.passed and check.log
    ]


def _warnings(batch: BatchResult) -> list[str]:
    said = [*batch.warnings, *(warning for result in batch.results for warning in result.warnings)]
    unlike = list(dict.fromkeys(plain_line(text, 500) for text in said))
    lines = [workflow_command("warning", text, {"title": "pi-batch"}) for text in unlike[:ANNOTATIONS_MAX]]
    if len(unlike) > ANNOTATIONS_MAX:
        more = len(unlike) - ANNOTATIONS_MAX + 1
        lines[-1] = workflow_command(
            "warning", f"{more} more warnings are in the reports.", {"title": "pi-batch"}
        )
    return lines
