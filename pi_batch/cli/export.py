"""`pi-batch export`: a session file, readable."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("export", epilog="Example: pi-batch export .pi-batch/runs/LATEST/tasks/fix/session.jsonl")
@click.argument("session", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path), required=False)
def command(session: Path, file: Path | None) -> int:
    """Show a session as readable text.

    SESSION is a session.jsonl of pi-batch or pi. The text goes to FILE, or to stdout.
    """
    from pi_batch.files import write_atomic
    from pi_batch.wiring.reporting import export_session

    text = export_session(session)
    if file is None:
        click.echo(text, nl=False)
    else:
        write_atomic(file, text.encode())
    return 0
