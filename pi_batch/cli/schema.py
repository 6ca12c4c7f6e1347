"""`pi-batch schema`: JSON Schemas for editors and for readers of run.json."""

from __future__ import annotations

import json

import click


@click.command("schema", epilog="Example: pi-batch schema task > .pi-batch-task.schema.json")
@click.argument("name", type=click.Choice(["task", "suite", "result"]))
def command(name: str) -> int:
    """Print the JSON Schema of a file format.

    Editors take it with a first line like: # yaml-language-server: $schema=task.schema.json
    """
    from pi_batch import schemas

    schema = {"task": schemas.task_schema, "suite": schemas.suite_schema, "result": schemas.result_schema}[
        name
    ]()
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
    return 0
