"""`pi-batch suite`: benchmark suites themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pi_batch.cli.options import run_options


@click.group("suite", epilog="Example: pi-batch suite check --help")
def command() -> None:
    """Prove that benchmark suites tell right from wrong."""


@command.command("check", epilog="Example: pi-batch suite check bench --jobs 2 --filter 'sql-*'")
@click.argument("specs", nargs=-1, required=True, metavar="SUITE...")
@click.option(
    "--filter", "filters", multiple=True, metavar="GLOB", help="As for run: ids, or tag:GLOB. Default: all."
)
@click.option("--repeat", type=click.IntRange(1), metavar="N", help="Make each trial N times. Default: 1.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Trials at once. Default: one a core.")
@click.option("--sandbox", metavar="NAME", help="As for run. Default: auto.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep the trials here. Default: a temporary directory, kept only when something is wrong.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON. Default: a table.")
def check(specs: tuple[str, ...], as_json: bool, **flags: Any) -> int:
    """Prove that the checks of a suite tell right from wrong.

    Each task is tried with its reference solution and its alternatives, which must pass, and with nothing
    done, its known mistakes and every known cheat, which must fail. No model service is asked. Exit code 0:
    proven, 1: not proven, 3: a trial could not be made.
    """
    from pi_batch.wiring.suite_check import check_suite

    return check_suite(specs, run_options(flags), as_json=as_json)
