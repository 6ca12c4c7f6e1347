"""`pi-batch exec`: one ad-hoc task."""

from __future__ import annotations

import sys
from typing import Any

import click

from pi_batch.cli.options import limit_options, output_options, run_options
from pi_batch.errors import UsageError


@click.command("exec", epilog='Example: pi-batch exec "Why does make test fail?" -m openai/gpt-4.1')
@click.argument("prompt")
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    help="Model as provider/model[:level], or replay/SESSION.jsonl. Default: PI_BATCH_MODEL.",
)
@limit_options
@output_options
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    help="The answer as text, the result as JSON, or events as JSONL. Default: text.",
)
@click.option(
    "-c",
    "--continue",
    "is_continued",
    is_flag=True,
    help="Go on with the newest session of exec in this directory. Default: a new one.",
)
@click.option(
    "--fork",
    metavar="SESSION[:ENTRY]",
    help="Go on from a session, up to one of its entries, in a file of its own. Default: a new session.",
)
def command(prompt: str, model: str | None, output_format: str, **flags: Any) -> int:
    """Run one ad-hoc prompt in the current directory.

    The agent works in place: no copy is made and nothing is verified. PROMPT `-` is read from stdin.
    """
    if flags["events"] and output_format == "json":
        raise click.UsageError("--events and --output-format json both need stdout")
    from pi_batch.wiring.run import run_prompt

    options = run_options({**flags, "models": () if model is None else (model,)})
    return run_prompt(_from_stdin() if prompt == "-" else prompt, options, output_format)


def _from_stdin() -> str:
    """All of standard input. Raises: UsageError where it is closed."""
    if sys.stdin is None:
        raise UsageError("PROMPT -: standard input is closed")
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
