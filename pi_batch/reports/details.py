"""Why one task came to its outcome, as plain lines: what reports put into a failure's body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pi_batch.encoders import Measure, keep_head, keep_tail, path_line, plain, plain_line, utf8_bytes
from pi_batch.outcome import failing_check
from pi_batch.reports.rows import ReadLog, Row
from pi_batch.result_words import spent, waited
from pi_batch.results import ChangedFile, PermissionDenial, RunResult, VerificationResult

Item = TypeVar("Item")

LIST_MAX_ITEMS = 30
LOGS_SHARE = 0.75
"""Of the bytes allowed; the rest is for what stands around the logs."""


def details(row: Row, read_log: ReadLog, max_bytes: int, measure: Measure = utf8_bytes) -> str:
    """The reason, failing checks with the ends of their logs, what changed, what it took.

    Never more than `max_bytes` by `measure`; the end of each log is kept, the rest is cut at its end.
    """
    if row.result is None:
        return keep_head(row.reason, max_bytes, measure)
    result = row.result
    lines = [plain_line(row.reason)]
    if result.stop is not None and result.stop != "completed":
        lines.append(f"stop: {result.stop}")
    if result.error is not None:
        message = plain_line(result.error.message)
        lines.append(f"error: {result.error.kind}{'' if message in lines[0] else f': {message}'}")
    lines += _checks(result)
    lines += _logs(_failing(result), read_log, int(max_bytes * LOGS_SHARE), measure)
    lines += _around(result)
    return keep_head("\n".join(lines), max_bytes, measure)


def _failing(result: RunResult) -> list[VerificationResult]:
    """Checks of the last attempt that did not pass."""
    last = max((check.attempt for check in result.verification), default=0)
    return [check for check in result.verification if check.attempt == last and not check.passed]


def _checks(result: RunResult) -> list[str]:
    """One line a check of every attempt."""

    def line(check: VerificationResult) -> str:
        said = plain_line(check.name if check.passed else failing_check(check))
        command = f"  $ {plain_line(check.command, 200)}" if check.command else ""
        return f"attempt {check.attempt}: {'passed' if check.passed else 'FAILED'}  {said}{command}"

    return _listed("checks:", result.verification, line)


def _logs(
    failing: Sequence[VerificationResult], read_log: ReadLog, max_bytes: int, measure: Measure
) -> list[str]:
    """The end of each failing check's log; together at most `max_bytes`."""
    shown = [check for check in failing if check.log][:LIST_MAX_ITEMS]
    lines: list[str] = []
    for check in shown:
        name = check.log or ""
        title = f"--- {plain_line(failing_check(check), 100)} ({plain_line(name, 100)})"
        room = max(max_bytes // len(shown) - measure(title) - 2, 0)
        # A byte too many is enough to see that something is left out.
        tail = plain(read_log(name).rstrip()[-(room + 1) :])
        lines += ["", title, keep_tail(tail, room, measure)]
    return [*lines, ""] if lines else lines


def _around(result: RunResult) -> list[str]:
    """What changed, what was refused and what it took."""

    def change(file: ChangedFile) -> str:
        source = f" (from {path_line(file.old_path)})" if file.old_path else ""
        size = "binary" if file.added is None else f"+{file.added} -{file.deleted}"
        return f"{file.status} {path_line(file.path)}{source} {size}"

    def denial(refused: PermissionDenial) -> str:
        return f"{plain_line(refused.tool, 60)}: {plain_line(refused.rule)}"

    return [
        *_listed("changed files:", result.changed_files, change),
        *_listed("protected paths touched:", result.protected_touched, path_line),
        *_listed("calls denied:", result.permission_denials, denial),
        *_listed("warnings:", result.warnings, plain_line),
        f"took: {spent(result)}",
        *([f"of it waited for limits: {waited(result)}"] if waited(result) else []),
        *([f"scripts held by: {', '.join(result.codemode.layers)}"] if result.codemode.layers else []),
        *(f"{word}: {plain_line(path)}" for word, path in _files(result) if path),
    ]


def _files(result: RunResult) -> Iterable[tuple[str, str | None]]:
    return (("session", result.session), ("patch", result.patch), ("digest", result.digest))


def _listed(title: str, items: Sequence[Item], line: Callable[[Item], str]) -> list[str]:
    """A title and one indented line an item, long lists cut with a count."""
    if not items:
        return []
    more = len(items) - LIST_MAX_ITEMS
    rest = [f"  … and {more} more"] if more > 0 else []
    return [title, *(f"  {line(item)}" for item in items[:LIST_MAX_ITEMS]), *rest]
