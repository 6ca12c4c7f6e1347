"""`pi-batch init`: working files to begin with, written where nothing is yet, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from pi_batch import __file__ as package_file
from pi_batch.errors import LogWriteError, UsageError
from pi_batch.files import write_atomic
from pi_batch.standard_streams import say

_PACKAGE = Path(package_file).parent
_STARTERS = _PACKAGE / "starters"
DEFAULT_ACTION: Final = "pi-batch/pi-batch"
_ACTION = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")


class Starter(Struct, frozen=True):
    """What one kind writes, and what a person does then."""

    help: str
    files: Mapping[str, str]
    """Where to -> which file of the starters."""
    next: tuple[str, ...]


_KEY = "Add the secret ANTHROPIC_API_KEY to the repository, or change model: and the key's name."
_COMMIT = "Replace the zeros behind `pi-batch/...@` by the commit of a release that you trust."

STARTERS: Final[Mapping[str, Starter]] = {
    "github": Starter(
        "A GitHub workflow that fixes failing tests of main, and publishes from a job of its own.",
        {".github/workflows/pi-batch-fix-tests.yml": "github/fix-tests.yml"},
        (_COMMIT, _KEY, "Set test_command: to what runs your tests, and install what it needs before."),
    ),
    "github-review": Starter(
        "A GitHub workflow that reviews pull requests in one comment.",
        {".github/workflows/pi-batch-review.yml": "github/review.yml"},
        (_COMMIT, _KEY),
    ),
    "github-label": Starter(
        "A GitHub workflow that fixes a pull request when it gets the label `pi-batch fix`.",
        {".github/workflows/pi-batch-fix-on-label.yml": "github/fix-on-label.yml"},
        (_COMMIT, _KEY, "Make the label `pi-batch fix`."),
    ),
    "nightly": Starter(
        "A GitHub workflow that runs tasks every night, one draft pull request each.",
        {".github/workflows/pi-batch-nightly.yml": "github/nightly.yml"},
        (_COMMIT, _KEY, "Choose the tasks: `pi-batch plan NAME -m MODEL` shows what one would do."),
    ),
    "nightly-gitlab": Starter(
        "A GitLab CI job for a pipeline schedule.",
        {"pi-batch-nightly.gitlab-ci.yml": "gitlab-nightly.yml"},
        (
            "Add `include: {local: pi-batch-nightly.gitlab-ci.yml}` to .gitlab-ci.yml.",
            "Set the masked variables ANTHROPIC_API_KEY and PI_BATCH_PUSH_TOKEN, and PI_BATCH_MODEL.",
            "Make a pipeline schedule.",
        ),
    ),
    "nightly-cron": Starter(
        "A script for cron or a systemd timer.",
        {"pi-batch-nightly.sh": "nightly.sh"},
        (
            "Its first lines show the entries for cron and systemd.",
            "Name a model: PI_BATCH_MODEL or .pi-batch.toml.",
        ),
    ),
    "shards-github": Starter(
        "A GitHub workflow that runs a suite on several machines, and judges it as one run.",
        {".github/workflows/pi-batch-benchmark.yml": "github/shards.yml"},
        (_COMMIT, _KEY, "Name your suite: task:. How shards are made: `pi-batch plan SUITE --shards 4`."),
    ),
    "shards-gitlab": Starter(
        "GitLab CI jobs that run a suite on several machines.",
        {"pi-batch-shards.gitlab-ci.yml": "gitlab-shards.yml"},
        (
            "Add `include: {local: pi-batch-shards.gitlab-ci.yml}` to .gitlab-ci.yml.",
            "Set the masked variable ANTHROPIC_API_KEY, and PI_BATCH_MODEL.",
            "Name your suite in place of pi-batch/suite.yaml.",
        ),
    ),
    "shards-slurm": Starter(
        "A script that runs a suite as a Slurm job array.",
        {"pi-batch-shards.sh": "slurm-shards.sh"},
        (
            "Its first lines show how to call it.",
            "Change the time and the processors that sbatch asks for, and add your partition.",
        ),
    ),
    "shards-kubernetes": Starter(
        "A Kubernetes indexed Job that runs a suite, and one that merges it.",
        {"pi-batch-shards.yaml": "kubernetes-shards.yaml"},
        (
            "Its first lines say what has to be there: an image, a volume claim and a secret.",
            "Name your image, suite and model.",
        ),
    ),
    "pre-commit": Starter(
        "A pre-commit hook that reviews what is staged.",
        {".pre-commit-config.yaml": "pre-commit.yaml"},
        ("Call `pre-commit install`.", 'Name a model: `model = "..."` in .pi-batch.toml, and set its key.'),
    ),
    "suite": Starter(
        "A suite with one task.",
        {"pi-batch/suite.yaml": "suite.yaml", "pi-batch/tasks/first.yaml": "task.yaml"},
        (
            "Call `pi-batch validate pi-batch/suite.yaml`.",
            "Then `pi-batch run pi-batch/suite.yaml -m MODEL`.",
        ),
    ),
}
"""Kind -> what it is."""


def start(kind: str, *, directory: Path, action: str | None, is_forced: bool) -> int:
    """Write a kind's files. Raises: UsageError for a file that is there already, LogWriteError."""
    starter = STARTERS[kind]
    if action is not None and not _ACTION.fullmatch(action):
        raise UsageError(f"--action {action}: need OWNER/REPOSITORY@ and a commit of 40 hex digits")
    contents = {directory / name: _content(source, action) for name, source in starter.files.items()}
    there = [path for path in contents if path.exists() or path.is_symlink()]
    if there and not is_forced:
        raise UsageError(f"{there[0]}: is there already; --force replaces it. Nothing was written")
    for path, content in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LogWriteError(f"{path.parent}: cannot be made: {error.strerror or error}") from error
        write_atomic(path, content)
        if content.startswith(b"#!"):
            path.chmod(0o755)
        say(f"wrote {path}\n")
    steps = [step for step in starter.next if action is None or step != _COMMIT]
    say("".join(f"{number}. {step}\n" for number, step in enumerate(steps, 1)))
    return 0


def _content(source: str, action: str | None) -> bytes:
    """A starter's bytes, with the action that was named in place of the zeros."""
    own = _STARTERS / source
    path = own if own.is_file() else _PACKAGE.parent / "github-action" / "examples" / Path(source).name
    text = path.read_text(encoding="utf-8")
    if action is not None:
        repository, _, commit = action.partition("@")
        text = re.sub(
            rf"{DEFAULT_ACTION}(\S*)@0{{40}} # .*", lambda match: f"{repository}{match[1]}@{commit}", text
        )
    return text.encode()
