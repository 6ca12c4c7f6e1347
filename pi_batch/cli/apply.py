"""`pi-batch apply`: a run's patches into the tree, a commit, a branch, a pull request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command("apply", epilog="Example: pi-batch apply .pi-batch/runs/RUN --as branch")
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@click.option(
    "--as",
    "as_",
    type=click.Choice(["tree", "commit", "branch", "pull-request"]),
    default="tree",
    help="Working files, a commit on HEAD, a branch or a draft pull request per task. Default: tree.",
)
@click.option(
    "--base",
    metavar="COMMIT",
    default="HEAD",
    help="What patches are put on. Default: HEAD, or the ref of the task's own repository.",
)
@click.option("--into", metavar="BRANCH", help="What a pull request is for. Default: the current branch.")
@click.option("--branch-prefix", metavar="TEXT", default="pi-batch/", help="Of branches. Default: pi-batch/.")
@click.option("--remote", metavar="NAME", default="origin", help="Of pull requests. Default: origin.")
@click.option(
    "--repo",
    "repos",
    multiple=True,
    metavar="GLOB",
    help="Addresses of other repositories that the run may name. Default: any.",
)
@click.option("--author", metavar="'NAME <EMAIL>'", help="Of commits. Default: git's own user.")
@click.option(
    "--title",
    metavar="TEMPLATE",
    help="Of commits, in jinja2, such as 'fix: {{ title }}'. Default: the spec's title.",
)
@click.option(
    "--body-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Of pull requests, in jinja2: title, body, task_id, key, model, outcome, cost, run_id, summary, "
    "files, answer. Default: checks, files, the answer.",
)
@click.option("--allow", multiple=True, metavar="GLOB", help="Take CI files and protected paths that match.")
@click.option(
    "--max-patch-bytes",
    type=click.IntRange(1),
    metavar="N",
    default=1024 * 1024,
    help="Of one patch. Default: 1048576.",
)
@click.option(
    "--max-files", type=click.IntRange(1), metavar="N", default=300, help="Of one patch. Default: 300."
)
@click.option(
    "--unverified", is_flag=True, help="Take patches that no check has judged. Default: refuse them."
)
@click.option("--push", is_flag=True, help="Push branches to the remote instead of making them here.")
@click.option("--ready", is_flag=True, help="Open pull requests ready for review. Default: as drafts.")
@click.option("--dry-run", is_flag=True, help="Judge only; change nothing.")
@click.option(
    "--secret", "secrets", multiple=True, metavar="NAME", help="No patch may hold this variable's value."
)
def command(run_dir: Path, tasks: tuple[str, ...], body_file: Path | None, **flags: Any) -> int:
    """Publish the patches of a run.

    A patch is judged once more: its size, its paths, secrets in it; and it is merged three ways where the
    base moved. What is refused is named, and the patch stays where it is. TASK is a key or a task's id;
    without any, all that passed. The patch of a task that was about another repository (workspace.repo) goes
    there, on top of the newest state of its branch.
    """
    from pi_batch.publishing.policy import Limits
    from pi_batch.publishing.words import Texts
    from pi_batch.wiring.applying import ApplyOptions, apply

    try:
        body = body_file.read_text(encoding="utf-8") if body_file is not None else None
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--body-file {body_file}: {error}") from error
    options = ApplyOptions(
        as_=flags["as_"],
        base=flags["base"],
        into=flags["into"],
        branch_prefix=flags["branch_prefix"],
        remote=flags["remote"],
        author=flags["author"],
        texts=Texts(flags["title"], body),
        limits=Limits(flags["max_patch_bytes"], flags["max_files"], flags["allow"]),
        takes_unverified=flags["unverified"],
        is_pushed=flags["push"],
        is_draft=not flags["ready"],
        is_dry_run=flags["dry_run"],
        secrets=flags["secrets"],
        repos=flags["repos"],
    )
    return apply(run_dir, tasks, options)
