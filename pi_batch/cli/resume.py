"""`pi-batch resume`: an interrupted run, to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pi_batch.cli.options import again_options, executor_options, report_options, run_options


@click.command("resume", epilog="Example: pi-batch resume .pi-batch/runs/RUN")
@click.argument("run_dir", type=click.Path(path_type=Path))
@again_options
@executor_options
@report_options
def command(run_dir: Path, **flags: Any) -> int:
    """Go on with an interrupted run.

    Tasks that have ended stay as they are. Interrupted ones go on from the last whole message, in the same
    workspace; the others are begun. Limits, costs and times count over all legs of the run.
    """
    from pi_batch.wiring.run import resume

    return resume(run_dir, run_options(flags))
