"""`pi-batch suite`: benchmark suites themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from pi_batch.cli.options import run_options


@click.group("suite", epilog="Example: pi-batch suite check --help")
def command() -> None:
    """Prove and import benchmark suites."""


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


@command.command("import", epilog="Example: pi-batch suite import harbor terminal-bench/tasks my-suite")
@click.argument("form", type=click.Choice(["harbor", "swebench"]), metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--repos",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="For swebench: where the repositories are, as OWNER/NAME, OWNER__NAME or NAME.",
)
@click.option(
    "--setup",
    multiple=True,
    metavar="COMMAND",
    help="For swebench: the tasks' workspace.setup. Default: none.",
)
def import_(
    form: Literal["harbor", "swebench"], path: Path, out: Path, *, repos: Path | None, setup: tuple[str, ...]
) -> int:
    """Write tasks of another format as a suite.

    FORMAT harbor: PATH is a task directory of Harbor or terminal-bench, or a directory of such; those that
    need an image cannot be had. FORMAT swebench: PATH is a .json or .jsonl file with rows as SWE-bench has
    them. OUT is a new directory. What becomes of each task is said in a line. Exit code 0: all were
    imported, 1: some.
    """
    from pi_batch.wiring.importing import import_suite

    return import_suite(form, path, out, repos=repos, setup=setup)
