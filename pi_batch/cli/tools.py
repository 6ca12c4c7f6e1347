"""`pi-batch tools`: what a model can call."""

from __future__ import annotations

import json

import click


@click.command("tools", epilog="Example: pi-batch tools --json")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the declarations as models get them. Default: text."
)
def command(as_json: bool) -> int:
    """List the tools that a model gets."""
    from pi_batch.wiring.tools import all_tools

    declarations, functions = all_tools()
    if as_json:
        rows = [
            {"name": d.name, "description": d.description, "parameters": d.parameters} for d in declarations
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    width = max(len(d.name) for d in declarations)
    for declaration in declarations:
        arguments = ", ".join(
            name if name in declaration.parameters.get("required", ()) else f"{name}?"
            for name in declaration.parameters.get("properties", {})
        )
        summary = declaration.description.split("\n")[0].split(". ")[0].rstrip(".")
        click.echo(f"{declaration.name:<{width}}  ({arguments})  {summary}")
    click.echo("\nIn a codemode script:")
    for function in functions:
        click.echo(f"  await tools.{function.signature}")
    return 0
