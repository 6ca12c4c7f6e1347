"""`pi-batch compare`: is B worse than A?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pi_batch.wiring.comparing import FailOn


def _number(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    """Not-a-number lies in every range."""
    if value != value:  # noqa: PLR0124
        raise click.BadParameter("nan is no margin")
    return value


@click.command("compare", epilog="Example: pi-batch compare .pi-batch/runs/RUN .pi-batch/runs/LATEST")
@click.argument("runs", nargs=-1, required=True, metavar="A [B...]")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, max_open=True),
    callback=_number,
    default=0.0,
    metavar="X",
    help="How much worse B may be: 0.05 is 5 points of the pass rate. Default: 0.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["regression", "inconclusive"]),
    help="A gate: exit 0 unless it is a regression (or inconclusive), or results are missing. "
    "Default: the exit code says the word.",
)
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Of the bootstrap. Default: 0.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write JSON here; - is stdout.",
)
@click.option(
    "--html",
    "html_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a page here; - is stdout.",
)
def command(
    runs: tuple[str, ...],
    *,
    margin: float,
    fail_on: FailOn | None,
    seed: int,
    json_file: Path | None,
    html_file: Path | None,
) -> int:
    """Compare runs or models; a gate for CI.

    The word is PASS, REGRESSION, INCONCLUSIVE or MISSING. A is the baseline of each B. Each is a run's
    directory, its run.json, or one model of either as RUN:MODEL; a single run with several models is compared
    within, with its first model as A. Tasks are paired by key and digest; each flipped one is listed. Several
    comparisons are corrected by Holm's method.

    Exit codes: 0 PASS, 1 REGRESSION, 3 MISSING, 5 INCONCLUSIVE; docs/benchmarking.md says what they mean.
    """
    from pi_batch.wiring.comparing import compare_runs

    return compare_runs(
        runs,
        margin=margin,
        fail_on=fail_on,
        seed=seed,
        json_file=_stream(json_file),
        html_file=_stream(html_file),
    )


def _stream(file: Path | None) -> Path | None:
    return Path("/dev/stdout") if str(file) == "-" else file
