"""What earlier runs recorded of how long their trials took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pi_batch.consequences import SCORED
from pi_batch.expected import Expected, Took
from pi_batch.jsonl import decode_line

NEWEST: Final = 5
"""Runs that are looked at."""
MAX_BYTES: Final = 32 * 1024 * 1024
"""Of a report: a larger one costs more to read than its order is worth."""


def expected_from(run_dirs: Sequence[Path]) -> Expected:
    """The means of these runs; what cannot be read says nothing."""
    return Expected.of(took for run_dir in run_dirs for took in _trials(run_dir / "run.json"))


def newest_runs(runs_dir: Path, *, besides: Path) -> tuple[Path, ...]:
    """The newest runs of a directory, the newest first."""
    found: list[tuple[float, Path]] = []
    try:
        for path in runs_dir.iterdir():
            report = path / "run.json"
            if path != besides and report.is_file():
                found.append((report.stat().st_mtime, path))
    except OSError:
        return ()
    return tuple(path for _, path in sorted(found, reverse=True)[:NEWEST])


def _trials(report: Path) -> Iterator[Took]:
    try:
        content = report.read_bytes() if report.stat().st_size <= MAX_BYTES else b""
    except OSError:
        return
    results = (decode_line(content) or {}).get("results")
    for result in results if isinstance(results, list) else ():
        match result:
            case {
                "task_id": str(task_id),
                "model": str(model),
                "outcome": outcome,
                "working_s": int() | float() as working_s,
            } if outcome in SCORED and working_s >= 0:
                yield Took(task_id, model, float(working_s))
            case _:
                pass
