"""A Markdown report for step summaries and pull request comments, bounded in bytes.

Every task keeps its line for as long as lines fit at all; details of what did not pass share the rest.
Foreign text stands in code spans, fences and escaped HTML only, so that no heading, link, mention or tag
in it comes alive.
"""

from __future__ import annotations

from collections.abc import Sequence

from pi_batch.encoders import html_line, keep_head, markdown_code, markdown_fence, utf8_bytes
from pi_batch.reports.details import details
from pi_batch.reports.logs import no_logs
from pi_batch.reports.rows import ReadLog, Row, rows
from pi_batch.result_words import counts, dollars, seconds, totals_line
from pi_batch.results import BatchResult

STEP_SUMMARY_BYTES = 900_000
"""GitHub drops a step summary above 1 MiB whole; several reports may share one step."""
DETAIL_MAX_BYTES = 20_000
"""For one task."""
DETAIL_MIN_BYTES = 400
ANSWER_MAX_BYTES = 2_000
WARNINGS_MAX = 10

_HEAD = "| outcome | task | reason | turns | cost | time |\n| --- | --- | --- | ---: | ---: | ---: |\n"


class Markdown:
    """The report that people read on a page."""

    name = "markdown"

    def __init__(self, read_log: ReadLog = no_logs, max_bytes: int = STEP_SUMMARY_BYTES) -> None:
        self._read_log = read_log
        self._max_bytes = max_bytes

    def render(self, batch: BatchResult) -> str:
        """The whole document, never more than `max_bytes` in UTF-8."""
        every = rows(batch)
        top = _top(batch)
        table = _table(every, self._max_bytes - utf8_bytes(top) - 200)
        left = self._max_bytes - utf8_bytes(top) - utf8_bytes(table) - 200
        return keep_head(top + table + self._all_details(every, left), self._max_bytes - 1).rstrip() + "\n"

    def _all_details(self, every: Sequence[Row], max_bytes: int) -> str:
        """What did not pass, one foldable block a task; the space is shared alike."""
        shown = [row for row in every if row.outcome in {"failed", "error"}]
        each = min(max_bytes // max(len(shown), 1), DETAIL_MAX_BYTES)
        if each < DETAIL_MIN_BYTES:
            fitting = max(max_bytes // DETAIL_MIN_BYTES, 0)
            each = DETAIL_MIN_BYTES
        else:
            fitting = len(shown)
        blocks = [self._block(row, each) for row in shown[:fitting]]
        more = len(shown) - fitting
        if more > 0:
            blocks.append(f"\nDetails of {more} more {'task' if more == 1 else 'tasks'} were left out.\n")
        return "".join(blocks)

    def _block(self, row: Row, max_bytes: int) -> str:
        """One task's details, at most `max_bytes`."""
        summary = f"{row.word}: <code>{html_line(row.name, 100)}</code>"
        head = f"\n<details><summary>{summary}</summary>\n\n"
        tail = "\n</details>\n"
        room = max_bytes - utf8_bytes(head) - utf8_bytes(tail)
        answer = (row.result.answer or "").strip() if row.result is not None else ""
        said = _fenced(answer[: ANSWER_MAX_BYTES * 2], min(ANSWER_MAX_BYTES, room // 4)) if answer else ""
        why = _fenced(details(row, self._read_log, room), room - utf8_bytes(said) - 30)
        return f"{head}{why}{f'{chr(10)}The answer:{chr(10)}{chr(10)}{said}' if said else ''}{tail}"


def _fenced(text: str, max_bytes: int) -> str:
    """A code block of at most `max_bytes`, fence included."""
    cut = max_bytes
    while cut > 0:
        block = markdown_fence(keep_head(text, cut))
        size = utf8_bytes(block)
        if size <= max_bytes:
            return block
        cut -= max(size - max_bytes, 1)
    return ""


def _top(batch: BatchResult) -> str:
    """The heading, the totals, the run's own warnings."""
    status = () if batch.status == "complete" else (f"**{batch.status}**",)
    parts = (*totals_line(batch), f"run {markdown_code(batch.run_id, 100, in_table=False)}", *status)
    warnings = [
        f"- {markdown_code(warning, 200, in_table=False)}\n" for warning in batch.warnings[:WARNINGS_MAX]
    ]
    more = len(batch.warnings) - len(warnings)
    warnings += [f"- … {more} more warnings were left out\n"] if more > 0 else []
    listed = f"Warnings:\n\n{''.join(warnings)}\n" if warnings else ""
    return f"## pi-batch: {counts(batch.totals)}\n\n{' · '.join(parts)}\n\n{listed}"


def _table(every: Sequence[Row], max_bytes: int) -> str:
    """One line a task, shorter lines where there are many; what did not pass goes first when none fit all."""
    for reason_chars in (200, 60, 0):
        table = _HEAD + "".join(_line(row, reason_chars) for row in every)
        if utf8_bytes(table) <= max_bytes:
            return table
    by_need = sorted(every, key=lambda row: row.outcome in {"passed", "skipped"})
    lines, size = [_HEAD], utf8_bytes(_HEAD)
    for row in by_need:
        line = _line(row, 0)
        size += utf8_bytes(line)
        if size > max_bytes:
            break
        lines.append(line)
    return (
        "".join(lines)
        + f"\n{len(every) - len(lines) + 1} more tasks were left out: too many for this page.\n"
    )


def _line(row: Row, reason_chars: int) -> str:
    name = markdown_code(row.name, 100 if reason_chars else 60)
    reason = markdown_code(row.reason, reason_chars) if reason_chars else ""
    if row.result is None:
        return f"| {row.word} | {name} | {reason} | | | |\n"
    cost = dollars(row.result.total_cost_usd)
    time = f"{seconds(row.result.duration_s):.1f} s"
    return f"| {row.word} | {name} | {reason} | {row.result.num_turns} | {cost} | {time} |\n"
