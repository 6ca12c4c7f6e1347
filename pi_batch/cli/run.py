"""`pi-batch run`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pi_batch.cli.options import (
    again_options,
    complete_spec,
    executor_options,
    output_options,
    run_options,
    selection_options,
)


@click.command("run", epilog="Example: pi-batch run tasks/ -m anthropic/claude-sonnet-5 --max-cost-usd 2")
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...", shell_complete=complete_spec)
@selection_options
@output_options
@again_options
@click.option(
    "--trust",
    type=click.Choice(["trusted", "untrusted"]),
    default=None,
    help="Whether the checkout's own text and settings may be believed. Default: the spec's, or "
    "PI_BATCH_TRUST; untrusted anywhere is untrusted.",
)
@click.option(
    "--shard",
    metavar="I/N",
    envvar="PI_BATCH_SHARD",
    show_envvar=True,
    help="Run only part I of N of the plan. Default: all of it.",
)
@click.option(
    "--manifest",
    envvar="PI_BATCH_MANIFEST",
    show_envvar=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --shard: which part has which task, from `pi-batch plan --manifest`. Default: by time limits.",
)
@executor_options
@click.option(
    "--state",
    metavar="DIR",
    help="Remember here what was tried, and leave alone what failed three times. Default: PI_BATCH_STATE, "
    "else nowhere.",
)
@click.option(
    "--try-again",
    "tries_again",
    is_flag=True,
    envvar="PI_BATCH_TRY_AGAIN",
    show_envvar=True,
    help="Run also what earlier nights speak against: left alone, unchanged, too early. Default: off.",
)
@click.option(
    "--cache",
    envvar="PI_BATCH_CACHE",
    show_envvar=True,
    is_flag=True,
    help="Answer requests that were made before out of kept replies, at no cost; not for repeats. "
    "Default: ask anew.",
)
@click.option(
    "--cache-repeats",
    is_flag=True,
    envvar="PI_BATCH_CACHE_REPEATS",
    show_envvar=True,
    help="The same for repeats, which are then all alike. Default: off.",
)
def command(specs: tuple[str, ...], **flags: Any) -> int:
    """Run task specs and judge the results.

    SPEC is a task or suite file, a directory of them, or a built-in name. Reports are written to the run
    directory after every task: run.json, junit.xml, events.jsonl, and per task its session and patch.
    """
    from pi_batch.wiring.run import run

    return run(specs, run_options(flags))
