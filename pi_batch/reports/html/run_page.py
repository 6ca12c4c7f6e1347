"""The page of a whole run: `pi-batch report --html`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from pi_batch.encoders import keep_tail, path_line, plain, plain_line
from pi_batch.reports.html.branches import percent
from pi_batch.reports.html.charts import Chart, Timeline, charts, timeline
from pi_batch.reports.html.prose import prose
from pi_batch.reports.html.rendering import render
from pi_batch.reports.html.session_page import Check, check, outcome_badge
from pi_batch.reports.html.values import Badge, Fact, Prose
from pi_batch.reports.logs import no_logs
from pi_batch.reports.rows import ReadLog, Row, rows
from pi_batch.result_words import counts, dollars, seconds, totals_line, waited
from pi_batch.results import BatchResult, ChangedFile, RunResult

if TYPE_CHECKING:
    from markupsafe import Markup

LOG_MAX_BYTES = 16 * 1024
"""Of one failing check's output: its end. Of one that passed, a quarter of it."""
LOGS_MAX_BYTES = 1_000_000
"""Of all outputs together, so that a page of a thousand tasks opens at once; shared alike."""
LOG_MIN_BYTES = 400
ANSWERS_MAX_CHARS = 500_000
"""Likewise."""
OPEN_MAX = 20
"""Tasks that are shown unfolded: the first that did not pass."""
LIST_MAX_ITEMS = 100


class TaskRow(Struct, frozen=True):
    """A task as a line of the table, and what stands behind it."""

    number: int
    name: str
    badge: Badge
    reason: str
    model: str
    turns: str
    tokens: str
    share: str
    cost: str
    time: str
    session: str
    """Where its session's page lies, relative to this one; empty: nowhere."""
    checks: tuple[Check, ...]
    facts: tuple[Fact, ...]
    answer: Prose | None
    story: Markup | None
    is_open: bool


class RunPage(Struct, frozen=True):
    """What the template of a run lays out."""

    title: str
    status: str
    """Empty for a run that is complete."""
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    timeline: Timeline | None
    charts: tuple[Chart, ...]
    outcomes: tuple[Fact, ...]
    """What the table can be filtered by: word and count."""
    models: tuple[Fact, ...]
    tasks: tuple[TaskRow, ...]


class Html:
    """The report named `html`; implements `protocols.Report`."""

    name = "html"

    def __init__(
        self,
        read_log: ReadLog = no_logs,
        sessions: Mapping[str, str] | None = None,
        stories: Mapping[str, Markup] | None = None,
    ) -> None:
        """By result key: `sessions`, where its session's page lies, relative to this one; `stories`."""
        self._read_log = read_log
        self._sessions = sessions or {}
        self._stories = stories or {}

    def render(self, batch: BatchResult) -> str:
        """The whole page, ending in one newline."""
        every = rows(batch)
        log_bytes = max(LOGS_MAX_BYTES // max(_logs(every), 1), LOG_MIN_BYTES)
        answer_chars = max(ANSWERS_MAX_CHARS // max(len(every), 1), 100)
        bad = [row.key for row in every if row.outcome in ("failed", "error")]
        is_open = frozenset(bad[:OPEN_MAX])
        tasks = tuple(
            self._row(number, row, is_open=row.key in is_open, log_bytes=log_bytes, answer_chars=answer_chars)
            for number, row in enumerate(every, start=1)
        )
        page = RunPage(
            f"pi-batch: {counts(batch.totals)}",
            "" if batch.status == "complete" else batch.status,
            tuple(_facts(batch)),
            tuple(plain_line(warning, 300) for warning in batch.warnings[:LIST_MAX_ITEMS]),
            timeline(every),
            charts(every),
            _counted(task.badge.text for task in tasks),
            _counted(task.model for task in tasks if task.model),
            tasks,
        )
        return render("run.html.j2", page)

    def _row(self, number: int, row: Row, *, is_open: bool, log_bytes: int, answer_chars: int) -> TaskRow:
        result = row.result
        answer = _cut((result.answer or "").strip(), answer_chars) if result is not None else ""
        return TaskRow(
            number,
            plain_line(row.name, 120),
            Badge(row.word, "warn") if result is None else outcome_badge(result),
            plain_line(row.reason, 400),
            plain_line(result.model, 80) if result is not None else "",
            f"{result.num_turns:,}" if result is not None else "",
            f"{result.usage.total_tokens:,}" if result is not None else "",
            percent(result.usage) if result is not None else "",
            dollars(result.total_cost_usd) if result is not None else "",
            f"{seconds(result.duration_s):.1f} s" if result is not None else "",
            self._sessions.get(row.key, ""),
            tuple(self._checks(result, log_bytes)) if result is not None else (),
            tuple(_behind(result)) if result is not None else (),
            prose(answer) if answer else None,
            self._stories.get(row.key),
            is_open,
        )

    def _checks(self, result: RunResult, log_bytes: int) -> Iterator[Check]:
        """Every check of every attempt, with the end of its log."""
        for one in result.verification:
            room = min(log_bytes, LOG_MAX_BYTES if not one.passed else LOG_MAX_BYTES // 4)
            tail = plain(self._read_log(one.log)[-2 * room :]).rstrip() if one.log else ""
            yield check(one, {one.log or "": keep_tail(tail, room)})


def _logs(every: Sequence[Row]) -> int:
    """How many outputs of checks there are."""
    return sum(one.log is not None for row in every if row.result for one in row.result.verification)


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[:max_chars]}\n… (the rest is in its session)"


def _counted(names: Iterable[str]) -> tuple[Fact, ...]:
    """Each name once, in order, with how often it is there."""
    return tuple(Fact(name, f"{count:,}") for name, count in Counter(names).items())


def _facts(batch: BatchResult) -> Iterator[Fact]:
    yield Fact("Took in all", " · ".join(totals_line(batch)))
    yield Fact("Run", plain_line(batch.run_id, 100))
    yield Fact("Started", plain_line(batch.started_at, 60))
    yield Fact("pi-batch", plain_line(batch.pi_batch_version, 40))


def _behind(result: RunResult) -> Iterator[Fact]:
    """What stands behind a task's line, where there is something to say."""
    yield Fact("task", plain_line(f"{result.key} ({result.spec})", 300))
    if len(result.models_used) > 1:
        yield Fact("models", plain_line(", ".join(result.models_used), 300))
    if result.digest:
        edition = f", edition {result.edition}" if result.edition else ""
        yield Fact("digest", plain_line(f"{result.digest}{edition}", 120))
    if result.stop is not None and result.stop != "completed":
        yield Fact("stop", result.stop)
    if result.error is not None:
        yield Fact("error", plain_line(f"{result.error.kind}: {result.error.message}", 600))
    groups = (
        ("changed", [_change(file) for file in result.changed_files]),
        ("protected", [path_line(path) for path in result.protected_touched]),
        ("denied", [plain_line(f"{one.tool}: {one.rule}") for one in result.permission_denials]),
        ("warnings", [plain_line(warning) for warning in result.warnings]),
    )
    for name, lines in groups:
        if lines:
            more = [f"… and {len(lines) - LIST_MAX_ITEMS} more"] if len(lines) > LIST_MAX_ITEMS else []
            yield Fact(name, "\n".join([*lines[:LIST_MAX_ITEMS], *more]))
    if waited(result):
        yield Fact("waited", f"{waited(result)} for limits")
    if result.patch:
        yield Fact("patch", plain_line(result.patch))


def _change(file: ChangedFile) -> str:
    source = f" (from {path_line(file.old_path)})" if file.old_path else ""
    size = "binary" if file.added is None else f"+{file.added} −{file.deleted}"
    return f"{file.status} {path_line(file.path)}{source} {size}"
