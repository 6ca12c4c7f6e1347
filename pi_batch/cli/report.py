"""`pi-batch report`: any report again, from the log."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("report", epilog="Example: pi-batch report .pi-batch/runs/RUN --markdown summary.md")
@click.argument("runs", nargs=-1, required=True, metavar="RUN_DIR...")
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
    "--comment",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the Markdown report here as short as a pull request's comment must be.",
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
@click.option(
    "--digest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what changed, failed and was skipped here, in short: Markdown, or JSON for a name in .json.",
)
@click.option(
    "--leaderboard",
    "boards",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a leaderboard of the run's models here: .html, .csv, .json, .txt, or - for stdout.",
)
def command(
    runs: tuple[str, ...],
    boards: tuple[Path, ...],
    json_file: Path | None,
    digest: Path | None,
    **files: Path | None,
) -> int:
    """Make the reports of a finished run again.

    They are computed from events.jsonl alone. Without an option the summary is printed. The exit code is
    that of the run.

    A leaderboard may be of several runs, each a directory, a run.json, or RUN:MODEL; alone it ends with 0.
    """
    kind = "digest-json" if digest is not None and digest.suffix == ".json" else "digest"
    wanted = {"json": json_file, kind: digest, **files}
    if boards:
        from pi_batch.wiring.leaderboards import write_leaderboards

        write_leaderboards(runs, boards)
        if not any(wanted.values()):
            return 0
    if len(runs) > 1:
        raise click.UsageError(f"got {len(runs)} runs, need one: only --leaderboard takes several")
    from pi_batch.wiring.reporting import report

    return report(Path(runs[0]), wanted)
