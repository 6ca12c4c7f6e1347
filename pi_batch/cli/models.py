"""`pi-batch models`: services, keys, prices."""

from __future__ import annotations

import json

import click

LIST = "list"


@click.command("models", epilog="Example: pi-batch models anthropic/claude-sonnet-5 openai/gpt-4.1")
@click.argument("models", nargs=-1, metavar="[list] [MODEL...]")
@click.option("--all", "is_all", is_flag=True, help="With list: also without a key. Default: off.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON. Default: text.")
def command(models: tuple[str, ...], is_all: bool, as_json: bool) -> int:
    """Show model services, or what is known of models.

    Without MODEL: each service, whether its key is set, where requests go, and the virtual models of the
    configuration file. With `list`: the models whose price is known, of services whose key is set. With
    MODEL: its price in USD per million tokens, its window and output cap, the thinking levels that it
    takes, and where each value comes from; for router/NAME, who is behind it.
    """
    from pi_batch.wiring.model_facts import describe_models, describe_services, lines
    from pi_batch.wiring.model_list import describe_known, table

    names = models[1:] if models[:1] == (LIST,) else models
    is_list = models == (LIST,)
    if is_all and not is_list:
        raise click.UsageError("--all: is for `pi-batch models list`")
    if is_list:
        rows = describe_known(is_all=is_all)
    else:
        rows = describe_models(names) if names else describe_services()
    shown = table(rows) if is_list else lines(rows)
    click.echo(json.dumps(rows, indent=2, ensure_ascii=False) if as_json else "\n".join(shown))
    return 0
