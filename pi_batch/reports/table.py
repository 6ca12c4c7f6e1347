"""The summary on standard output: a table for people, coloured on a terminal, aligned text elsewhere."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence

from pi_batch.encoders import plain_line, workflow_safe
from pi_batch.reports.rows import Row, rows
from pi_batch.result_words import STYLES, counts, dollars, painted, seconds, totals_line
from pi_batch.results import BatchResult

COLUMNS = ("outcome", "task", "turns", "tokens", "cost", "time", "reason")
RIGHT_ALIGNED = frozenset({"turns", "tokens", "cost", "time"})
NAME_MAX_CHARS = 60
REASON_MAX_CHARS = 200


class Table:
    """The report that ends a run."""

    name = "table"

    def __init__(
        self,
        *,
        run_dir: str = "",
        is_terminal: bool = False,
        has_color: bool = False,
        width: int = 100,
        is_ci: bool = False,
    ) -> None:
        self._run_dir = run_dir
        self._is_terminal = is_terminal
        self._has_color = has_color
        self._width = width
        self._is_ci = is_ci

    def render(self, batch: BatchResult) -> str:
        """The table, the totals, and where the run's files are."""
        every = rows(batch)
        cells = [_cells(row) for row in every]
        last = _totals(batch) + (f"\n{plain_line(self._run_dir, 1000)}" if self._run_dir else "")
        table = self._drawn(every, cells) if self._is_terminal else self._aligned(cells)
        text = f"{table}\n{last}\n" if every else f"{last}\n"
        return workflow_safe(text) if self._is_ci else text

    def _drawn(self, every: Sequence[Row], cells: Sequence[tuple[str, ...]]) -> str:
        """A table by rich, with its colours."""
        from rich.box import SIMPLE_HEAD  # 60 ms, and only on a terminal
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for title in COLUMNS:
            is_number = title in RIGHT_ALIGNED
            table.add_column(title, justify="right" if is_number else "left", no_wrap=title != "reason")
        for row, texts in zip(every, cells, strict=True):
            table.add_row(Text(texts[0], style=STYLES[row.word]), *(Text(text) for text in texts[1:]))
        console = Console(
            file=io.StringIO(),
            force_terminal=True,
            width=self._width,
            color_system="standard" if self._has_color else None,
            legacy_windows=False,
        )
        with console.capture() as captured:
            console.print(table)
        return captured.get().rstrip("\n")

    def _aligned(self, cells: Sequence[tuple[str, ...]]) -> str:
        """Plain columns, two spaces apart, never wrapped: foreign text begins no line."""
        lines = [COLUMNS, *cells]
        widths = [max(_width(line[column]) for line in lines) for column in range(len(COLUMNS))]

        def padded(line: Sequence[str]) -> str:
            parts = []
            for title, text, width in zip(COLUMNS, line, widths, strict=True):
                space = " " * (width - _width(text))
                parts.append(f"{space}{text}" if title in RIGHT_ALIGNED else f"{text}{space}")
            if self._has_color and line is not COLUMNS:
                parts[0] = painted(parts[0], line[0])
            return "  ".join(parts).rstrip()

        return "\n".join(padded(line) for line in lines) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    name, reason = plain_line(row.name, NAME_MAX_CHARS), plain_line(row.reason, REASON_MAX_CHARS)
    if row.result is None:
        return (row.word, name, "", "", "", "", reason)
    result = row.result
    return (
        row.word,
        name,
        str(result.num_turns),
        f"{result.usage.total_tokens:,}",
        dollars(result.total_cost_usd),
        f"{seconds(result.duration_s):.1f} s",
        reason,
    )


def _width(text: str) -> int:
    """Cells on a terminal: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _totals(batch: BatchResult) -> str:
    status = "" if batch.status == "complete" else f" ({batch.status})"
    return " · ".join((f"{counts(batch.totals)}{status}", *(plain_line(part) for part in totals_line(batch))))
