"""The summary that ends a command."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from pi_batch.reports.table import Table
from pi_batch.results import BatchResult
from pi_batch.standard_streams import say
from pi_batch.wiring.surroundings import Surroundings, is_terminal


def print_table(batch: BatchResult, run_dir: Path, around: Surroundings) -> None:
    """Print a run's table; its directory as a person types it."""
    shown = run_dir.relative_to(around.cwd) if run_dir.is_relative_to(around.cwd) else run_dir
    table = Table(
        run_dir=str(shown),
        is_terminal=is_terminal(sys.stdout),
        has_color=around.has_color(sys.stdout),
        width=shutil.get_terminal_size((100, 24)).columns,
        is_ci=around.is_ci,
    )
    say(table.render(batch))
