"""`pi-batch plan`: what a run would do."""

from __future__ import annotations

import json as json_module
from pathlib import Path

import click

from pi_batch.cli.options import complete_spec, parse_inputs, selection_options


@click.command("plan", epilog="Example: pi-batch plan tasks/ -m openai/gpt-6 -m anthropic/claude-sonnet-5")
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...", shell_complete=complete_spec)
@selection_options
@click.option(
    "--shards",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Deal the plan out to N machines, and show what each gets. Default: no parts.",
)
@click.option(
    "--durations",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN_DIR",
    help="With --shards: deal out by what this run took. Default: by time limits.",
)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --shards: write it here, for `pi-batch run --shard I/N --manifest FILE`. Default: not.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON: keys and effective settings. Default: text."
)
def command(
    specs: tuple[str, ...],
    *,
    inputs: tuple[str, ...],
    as_json: bool,
    shards: int | None,
    durations: tuple[Path, ...],
    manifest: Path | None,
    **flags: object,
) -> int:
    """Show what would run, without running it.

    One line a result: its key, model and limits. With --shards, one line a part: how many results, how long
    they are expected to take together, and its share of the suite's budget; as JSON, the manifest.
    """
    from msgspec.structs import asdict

    from pi_batch.wiring.planning import plan_specs

    plan = plan_specs(specs, parse_inputs(inputs), flags)
    if shards is not None:
        from pi_batch.wiring.sharding import show_shards

        return show_shards(plan, shards, durations, manifest, as_json=as_json)
    if durations or manifest is not None:
        raise click.UsageError(f"{'--durations' if durations else '--manifest'}: needs --shards N")
    if as_json:
        rows = [
            {**asdict(task.planned), "settings": {k: asdict(v) for k, v in task.settings.items()}}
            for task in plan.tasks
        ]
        click.echo(json_module.dumps(rows, indent=2, ensure_ascii=False, default=str))
        return 0
    width = max(len(task.planned.key) for task in plan.tasks)
    for task in plan.tasks:
        budget = task.spec.budget
        limits = [
            f"{name} {value:,.10g}"
            for name, value in (
                ("turns", budget.turns),
                ("tokens", budget.tokens),
                ("usd", budget.cost_usd),
                ("seconds", budget.wall_s),
            )
            if value is not None
        ]
        at = f"@{task.planned.ref}" if task.planned.ref else ""
        where = f"  in {task.planned.repo}{at}" if task.planned.repo else ""
        click.echo(f"{task.planned.key:<{width}}  {task.model}  {', '.join(limits) or 'no limits'}{where}")
    return 0
