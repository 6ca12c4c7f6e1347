"""`pi-batch report`: any report again, from the log."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("report", epilog="Example: pi-batch report .pi-batch/runs/RUN --markdown summary.md")
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write junit.xml here.")
@click.option(
    "--xunit",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write junit.xml for Jenkins' xUnit plugin here: without the cases' files, which it refuses.",
)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="Write run.json here."
)
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write a Markdown report here."
)
@click.option(
    "--sarif", type=click.Path(path_type=Path), metavar="FILE", help="Write findings of reviews here."
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a page here; the tasks' sessions become pages beside it.",
)
def command(run_dir: Path, json_file: Path | None, **files: Path | None) -> int:
    """Make the reports of a finished run again.

    They are computed from events.jsonl alone. Without an option the summary is printed. The exit code is
    that of the run.
    """
    from pi_batch.wiring.reporting import report

    return report(run_dir, {"json": json_file, **files})
