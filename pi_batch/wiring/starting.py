"""`pi-batch init`: working files to begin with, written where nothing is yet, and what to do next."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from pi_batch import __file__ as package_file
from pi_batch.errors import LogWriteError, UsageError, WorkspaceError
from pi_batch.files import write_atomic
from pi_batch.git import Git, Place, find_git
from pi_batch.repository_address import address_of, without_credentials
from pi_batch.standard_streams import say
from pi_batch.workspaces.checkout import find_top
from pi_batch.workspaces.layout import repository_of

_PACKAGE = Path(package_file).parent
_STARTERS = _PACKAGE / "starters"
DEFAULT_ACTION: Final = "pi-batch/pi-batch"
_PLACEHOLDER: Final = "    - https://github.com/OWNER/REPOSITORY\n"
_ACTION = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")


class Starter(Struct, frozen=True):
    """What one kind writes, and what a person does then."""

    help: str
    files: Mapping[str, str]
    """Where to -> which file of the starters."""
    next: tuple[str, ...]


_KEY = "Add the secret ANTHROPIC_API_KEY to the repository, or change model: and the key's name."
_MODEL = "Name a model, PI_BATCH_MODEL or .pi-batch.toml, and put its key into ~/.config/pi-batch/keys."
_REPOS = (
    "Name your repositories in pi-batch/nightly.yaml, and what tests them in pi-batch/nightly/fix-tests.yaml."
)
_TRY = "Try it: `pi-batch plan pi-batch/nightly.yaml -m MODEL` shows what a night would do."
_SUITE: Final = {
    "pi-batch/nightly.yaml": "nightly.yaml",
    "pi-batch/nightly/fix-tests.yaml": "nightly-task.yaml",
}
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
        "A suite over many repositories and a nightly GitHub workflow: one draft pull request a task.",
        {".github/workflows/pi-batch-nightly.yml": "github/nightly.yml", **_SUITE},
        (
            _REPOS,
            _COMMIT,
            _KEY,
            "For repositories other than this one: the secrets PI_BATCH_READ_TOKEN (reads private ones) and "
            "PI_BATCH_PUSH_TOKEN (writes contents and pull requests).",
            _TRY,
        ),
    ),
    "nightly-gitlab": Starter(
        "A suite over many repositories and GitLab CI jobs for a pipeline schedule.",
        {"pi-batch-nightly.gitlab-ci.yml": "gitlab-nightly.yml", **_SUITE},
        (
            _REPOS,
            "Add `include: {local: pi-batch-nightly.gitlab-ci.yml}` to .gitlab-ci.yml.",
            "Set the masked variable ANTHROPIC_API_KEY, PI_BATCH_MODEL, and for the environment "
            "pi-batch-publish alone PI_BATCH_PUSH_TOKEN, an access token that writes the repositories.",
            "Make a pipeline schedule.",
            _TRY,
        ),
    ),
    "nightly-cron": Starter(
        "A suite over many repositories and a script for cron.",
        {"pi-batch-nightly.sh": "nightly.sh", **_SUITE},
        (_REPOS, _MODEL, "Add the line for cron that the script begins with, by `crontab -e`.", _TRY),
    ),
    "nightly-systemd": Starter(
        "The same with a systemd service and timer.",
        {
            "pi-batch-nightly.sh": "nightly.sh",
            "pi-batch-nightly.service": "nightly.service",
            "pi-batch-nightly.timer": "nightly.timer",
            **_SUITE,
        },
        (
            _REPOS,
            _MODEL,
            'Call `systemctl --user link "$PWD/pi-batch-nightly.service"`.',
            'Call `systemctl --user enable --now "$PWD/pi-batch-nightly.timer"`.',
            _TRY,
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


def start(
    kind: str, *, directory: Path, action: str | None, repos: Sequence[str] = (), is_forced: bool
) -> int:
    """Write a kind's files, about the repositories that are named or the one that they are written in.

    Raises: UsageError for a file that is there already, LogWriteError.
    """
    starter = STARTERS[kind]
    is_about_repos = "nightly.yaml" in starter.files.values()
    if repos and not is_about_repos:
        raise UsageError(f"--repo: is for nightly kinds, not for {kind}")
    addresses = [_address(repo) for repo in repos]
    if is_about_repos and not addresses:
        addresses = _own_address(directory)
    if action is not None and not _ACTION.fullmatch(action):
        raise UsageError(f"--action {action}: need OWNER/REPOSITORY@ and a commit of 40 hex digits")
    contents = {
        directory / name: _filled(_content(source, action), directory, addresses)
        for name, source in starter.files.items()
    }
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
    done = {_COMMIT if action is not None else "", _REPOS if repos else ""}
    steps = [step for step in starter.next if step not in done]
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


def _filled(content: bytes, directory: Path, addresses: Sequence[str]) -> bytes:
    """A starter with its repositories and, in systemd's spelling, its directory."""
    text = content.decode()
    if addresses:
        text = text.replace(_PLACEHOLDER, "".join(f"    - {json.dumps(address)}\n" for address in addresses))
    return text.replace("@DIRECTORY@", str(directory.resolve()).replace("%", "%%")).encode()


def _address(repo: str) -> str:
    """A repository as it may stand in a file: no credentials, no path that depends on where one is.

    Raises: UsageError.
    """
    try:
        return address_of(repo).below(Path.cwd()).url
    except ValueError as error:
        raise UsageError(f"--repo {without_credentials(repo)!r}: {error}") from error


def _own_address(directory: Path) -> list[str]:
    """The `origin` of the repository that a directory is in, without credentials; empty without one."""
    try:
        top = find_top(directory.resolve())
        if top is None:
            return []
        git = Git(find_git())
        words = ("config", "--local", "--get", "remote.origin.url")
        output = asyncio.run(git.run(Place(repository_of(top), top), *words, accepted=(0, 1)))
        return [address_of(output.stdout.decode().strip()).below(top).url]
    except (WorkspaceError, ValueError):
        return []
