"""A leaderboard as plain files: text for a terminal, CSV with a line a model, JSON with everything."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence

from pi_batch.encoders import csv_cell, plain_line
from pi_batch.reports.benchmark_words import (
    NOT_KNOWN,
    between,
    count,
    money,
    name_of,
    percent,
    time,
)
from pi_batch.reports.json import json_value
from pi_batch.statistics.amounts import Spread
from pi_batch.statistics.standing import ByK, Leaderboard, Standing
from pi_batch.statistics.trials import Entrant

COLUMNS = (
    "rank", "name", "model", "run", "tasks", "passed", "failed", "error", "missing", "skipped",
    "repeats_min", "repeats_max", "rate", "rate_low", "rate_high", "rate_method", "rate_of_all",
    "is_on_frontier",
    *(f"{amount}_{part}" for amount in ("cost_usd", "tokens", "turns", "working_s")
      for part in ("mean", "median", "p90", "total", "per_solved", "unknown")),
)  # fmt: skip
"""Of the CSV file; after them come pass_at_K and pass_hat_K for each K."""


def leaderboard_csv(board: Leaderboard) -> str:
    """A line a model, the best first; what is not known is an empty cell. Lines end in a newline alone."""
    ks = sorted({each.k for one in board.standings for each in one.pass_at_k})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *(f"pass_at_{k}" for k in ks), *(f"pass_hat_{k}" for k in ks)])
    for rank, one in enumerate(board.standings, start=1):
        tries = (_values(one.pass_at_k, ks), _values(one.pass_hat_k, ks))
        writer.writerow([_cell(value) for value in (rank, *_fields(one), *tries[0], *tries[1])])
    return out.getvalue()


def leaderboard_json(board: Leaderboard, entrants: Sequence[Entrant]) -> str:
    """Every number, fields as in `statistics/standing.py`, and the trials that they are made of."""
    trials = [{"name": one.name, "trials": json_value(one.trials)} for one in entrants]
    whole = {**json_value(board), "entrants": trials}
    return json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def leaderboard_text(board: Leaderboard) -> str:
    """A table, and what is to be known beside it."""
    most = max((each.k for one in board.standings for each in one.pass_at_k), default=1)
    titles = ("#", "model", "pass rate", "95 % interval", "of all", f"pass@{most}", f"pass^{most}")
    lines: list[tuple[str, ...]] = [(*titles, "cost", "per solved", "tokens", "turns", "time", "")]
    lines += [_line(rank, one, most) for rank, one in enumerate(board.standings, start=1)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rows = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([*rows, "", *_notes(board)]) + "\n"


def _line(rank: int, one: Standing, most: int) -> tuple[str, ...]:
    return (
        str(rank),
        name_of(one.name),
        percent(one.rate),
        between(one.interval) if one.rate is not None else "",
        percent(one.rate_of_all),
        next((percent(each.value) for each in one.pass_at_k if each.k == most), NOT_KNOWN),
        next((percent(each.value) for each in one.pass_hat_k if each.k == most), NOT_KNOWN),
        money(one.cost_usd.mean),
        money(one.cost_usd.per_solved),
        count(one.tokens.mean),
        count(one.turns.mean),
        time(one.working_s.mean),
        "frontier" if one.is_on_frontier else "",
    )


def _notes(board: Leaderboard) -> Iterator[str]:
    seen = board.smallest_difference
    tasks = f"{len(board.grid):,} {'task' if len(board.grid) == 1 else 'tasks'}"
    sees = (
        "no difference: fewer than 6 tasks" if seen is None else f"differences from {100 * seen:.1f} points"
    )
    yield f"{tasks}; sees {sees} (80 % power); seed {board.seed}"
    yield from (f"warning: {plain_line(warning)}" for warning in board.warnings)


def _fields(one: Standing) -> Iterator[object]:
    yield from (one.name, one.model, one.run, one.tasks)
    yield from (one.counts[state] for state in ("passed", "failed", "error", "missing", "skipped"))
    yield from (*one.repeats, one.rate, one.interval.low, one.interval.high, one.interval.method)
    yield from (one.rate_of_all, str(one.is_on_frontier).lower())
    for spread in (one.cost_usd, one.tokens, one.turns, one.working_s):
        yield from _parts(spread)


def _parts(spread: Spread) -> Iterator[float | None]:
    yield from (spread.mean, spread.median, spread.p90, spread.total, spread.per_solved, spread.unknown)


def _values(found: Sequence[ByK], ks: Sequence[int]) -> list[float | None]:
    by_number = {each.k: each.value for each in found}
    return [by_number.get(k) for k in ks]


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.10g}"
        case _:
            return csv_cell(str(value))
