"""`pi-batch validate`: every mistake in spec files, before anything runs."""

from __future__ import annotations

import click

from pi_batch.cli.options import complete_spec, parse_inputs, selection_options


@click.command("validate", epilog="Example: pi-batch validate tasks/")
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...", shell_complete=complete_spec)
@selection_options
def command(specs: tuple[str, ...], inputs: tuple[str, ...], **flags: object) -> int:
    """Check spec files; nothing is run.

    Every problem is one line, file:line: field: what is wrong. Exit code 2 when there is one. Templates are
    checked too, whether or not their inputs are given.
    """
    from pi_batch.wiring.planning import check_specs

    plan = check_specs(specs, parse_inputs(inputs), flags)
    noun = "task" if len(plan.tasks) == 1 else "tasks"
    click.echo(f"{len(plan.tasks)} {noun}, no problems")
    return 0
