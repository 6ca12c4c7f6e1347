"""`pi-batch exec`: one ad-hoc task."""

from __future__ import annotations

import sys
from typing import Any

import click

from pi_batch.cli.options import output_options, reserved_options, run_options, selection_options


@click.command(
    "exec", epilog='Example: pi-batch exec "Why does make test fail?" -m anthropic/claude-sonnet-5'
)
@click.argument("prompt")
@selection_options
@output_options
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    help="The answer as text, the result as JSON, or events as JSONL. Default: text.",
)
@reserved_options("--fork", "-c!")
def command(prompt: str, output_format: str, **flags: Any) -> int:
    """Run one ad-hoc prompt in the current directory.

    The agent works in place: no copy is made and nothing is verified. PROMPT `-` is read from stdin.
    """
    from pi_batch.wiring.run import run_prompt

    if prompt == "-":
        prompt = sys.stdin.read()
    return run_prompt(prompt, run_options(flags), output_format)
