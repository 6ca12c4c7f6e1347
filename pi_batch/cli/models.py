"""`pi-batch models`: services, keys, prices."""

from __future__ import annotations

import json

import click


@click.command("models", epilog="Example: pi-batch models anthropic/claude-sonnet-5 openai/gpt-4.1")
@click.argument("models", nargs=-1, metavar="[MODEL...]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON. Default: text.")
def command(models: tuple[str, ...], as_json: bool) -> int:
    """Show model services, or what is known of models.

    Without MODEL: each service, whether its key is set, and where requests go. With MODEL: its price in USD
    per million tokens, its window and output cap, and where each value comes from.
    """
    from pi_batch.wiring.model_facts import describe_models, describe_services, lines

    rows = describe_models(models) if models else describe_services()
    click.echo(json.dumps(rows, indent=2, ensure_ascii=False) if as_json else "\n".join(lines(rows)))
    return 0
