"""`pi-batch hook`: a task spec as a pre-commit check."""

from __future__ import annotations

from typing import Any

import click

from pi_batch.cli.options import parse_inputs


@click.command("hook", epilog="Example: pi-batch hook -m anthropic/claude-haiku-5 --fail-on warning")
@click.option("--spec", default="review-staged", metavar="SPEC", help="A task. Default: review-staged.")
@click.option("-m", "--model", "models", multiple=True, metavar="MODEL", help="Default: the spec's.")
@click.option("-i", "--input", "inputs", multiple=True, metavar="KEY=VALUE", help="Set an input of the spec.")
@click.option(
    "--on-error",
    type=click.Choice(["fail", "pass"]),
    default="fail",
    help="When nothing can be judged: no key, no network. Default: fail.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    help="The least severity of a finding that stops the commit. Default: error.",
)
@click.option(
    "--max-diff-bytes",
    type=click.IntRange(1),
    metavar="N",
    default=400_000,
    help="Of what is staged; files beyond it are only named. Default: 400000.",
)
@click.option("--max-cost-usd", type=click.FloatRange(0), metavar="X", help="USD. Default: the spec's.")
@click.option("--no-cache", is_flag=True, help="Ask again, also about what was judged before.")
def command(inputs: tuple[str, ...], no_cache: bool, **flags: Any) -> int:
    """Check what is staged, as a pre-commit hook.

    The files as they are staged are put into a directory of their own, and the task judges them. Findings are
    printed as file:line: severity: message. What was judged once is not asked again while nothing changes.
    """
    from pi_batch.wiring.hook import HookOptions, hook

    return hook(HookOptions(inputs=parse_inputs(inputs), is_cached=not no_cache, **flags))
