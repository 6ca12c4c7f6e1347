"""`pi-batch export`: a session file, readable."""

from __future__ import annotations

from pathlib import Path

import click

TEXT_SUFFIXES = frozenset({".txt", ".text", ".log"})


@click.command(
    "export", epilog="Example: pi-batch export .pi-batch/runs/RUN/tasks/fix/session.jsonl fix.html"
)
@click.argument("session", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "text", "trajectory", "swebench"]),
    help="What to make. Left out: text on stdout and for a FILE in .txt, .text or .log; else html.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Of a run with repeats: which is written as swebench or trajectory. Default: 1.",
)
def command(session: Path, file: Path | None, form: str | None, repeat: int) -> int:
    """Make a session readable: one HTML page, or text.

    SESSION is a session.jsonl of pi-batch or pi. The page is one file that fetches nothing: the tree with
    its branches, calls and their results folded, diffs, costs by turn, and the verdict where the session lies
    in the directory of its run. Without FILE the session is shown as text on stdout.

    For other programs, SESSION may be a run's directory too, or RUN:MODEL: swebench writes its patches as
    predictions (preds.json by instance, else a line each), trajectory writes a session, or each of a run's
    into the directory FILE, as mini-swe-agent's tools read them.
    """
    if form in ("swebench", "trajectory"):
        from pi_batch.wiring.exporting import export_predictions, export_trajectory

        return (export_predictions if form == "swebench" else export_trajectory)(str(session), file, repeat)
    from pi_batch.errors import UsageError
    from pi_batch.reports.write import write_report
    from pi_batch.wiring.reporting import export_session

    to_stdout = file is None or str(file) == "-"
    if form is None:
        form = "text" if to_stdout or Path(str(file)).suffix.lower() in TEXT_SUFFIXES else "html"
    if file is not None and file.exists() and session.exists() and file.samefile(session):
        raise UsageError(f"{file}: is the session itself; name another file for what is made of it")
    text = export_session(session, is_page=form == "html")
    if file is None or to_stdout:
        click.echo(text, nl=False)
    else:
        write_report(file, text.encode())
    return 0
