"""`pi-batch init`: working files to begin with."""

from __future__ import annotations

from pathlib import Path

import click

KINDS = (
    *(
        "github",
        "github-review",
        "github-label",
        "nightly",
        "nightly-gitlab",
        "nightly-cron",
        "nightly-systemd",
    ),
    *("shards-github", "shards-gitlab", "shards-slurm", "shards-kubernetes"),
    *("pre-commit", "suite"),
)


@click.command("init", epilog="Example: pi-batch init suite")
@click.argument("kind", type=click.Choice(KINDS), metavar="KIND")
@click.option(
    "--action",
    metavar="OWNER/REPO@COMMIT",
    help="Where workflows take the action from. Default: zeros that you replace.",
)
@click.option(
    "--repo",
    "repos",
    multiple=True,
    metavar="REPO",
    help="Repositories of the night, by URL or path. Default: the origin of this one.",
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    metavar="DIR",
    help="Where to. Default: here.",
)
@click.option("--force", is_flag=True, help="Replace files that are there already.")
def command(kind: str, action: str | None, repos: tuple[str, ...], directory: Path, force: bool) -> int:
    """Write files to begin with: workflows, hooks, a suite.

    github, github-review and github-label are GitHub workflows. nightly (GitHub), nightly-gitlab,
    nightly-cron and nightly-systemd are a suite over many repositories with what starts it every night.
    shards-* run a suite on several machines; pre-commit is a hook's configuration, suite a suite of tasks.
    """
    from pi_batch.wiring.starting import start

    return start(kind, directory=directory, action=action, repos=repos, is_forced=force)
