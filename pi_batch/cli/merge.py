"""`pi-batch merge`: the shards of a plan as one run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("merge", epilog="Example: pi-batch merge shard-1 shard-2 --output merged --junit junit.xml")
@click.argument("run_dirs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN_DIR...")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Directory of the whole run; an earlier merge there is replaced. Default: .pi-batch/runs/<run id>.",
)
@click.option(
    "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write junit.xml here as well."
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write run.json here as well.",
)
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write a Markdown report here."
)
def command(
    run_dirs: tuple[Path, ...],
    *,
    output: Path | None,
    junit: Path | None,
    json_file: Path | None,
    markdown: Path | None,
) -> int:
    """Make one run of the shards of a plan.

    RUN_DIR is what `run --shard I/N` made on one of several machines. All must be of the same manifest and
    hold only what their shard was given; else nothing is written, and each refusal is one line (exit code 2).
    Of a shard that was run again the newest attempt of each result counts. What is in no directory is
    missing: it is named, and the exit code is 3. Otherwise the exit code is that of the whole run.
    """
    from pi_batch.wiring.merging import merge

    return merge(run_dirs, output, {"junit": junit, "json": json_file, "markdown": markdown})
