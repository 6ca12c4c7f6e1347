"""`pi-batch doctor`: what this machine offers."""

from __future__ import annotations

import click


@click.command("doctor", epilog="Example: pi-batch doctor")
def command() -> int:
    """Check what this machine offers to runs.

    One line a finding: ok, note or missing. Exit code 3 when something needed is missing.
    """
    from pi_batch.wiring.doctor import findings

    found = findings()
    for finding in found:
        click.echo(f"{finding.state:<8} {finding.name}: {finding.text}")
    return 3 if any(finding.state == "missing" for finding in found) else 0
