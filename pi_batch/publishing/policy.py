"""What may be published without a person having looked: sizes, paths, kinds of files, secrets.

The job that publishes has rights that the agent never had. So the patch is judged again here, by what it
makes of the repository (git's own reading of it), never by what its text looks like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from pi_batch.permissions import gitignore_regex
from pi_batch.redact import Masker
from pi_batch.wording import quoted

FORBIDDEN: Final = (
    "/.github/workflows/**",
    "/.github/actions/**",
    "/.gitlab-ci.yml",
    "/.circleci/**",
    "/.buildkite/**",
    "/azure-pipelines.yml",
    "/Jenkinsfile",
    "/.woodpecker.yml",
    "/.woodpecker/**",
    "/.travis.yml",
    ".gitmodules",
    ".gitattributes",
    ".pre-commit-config.yaml",
)
"""What runs with rights of its own once it is merged, or decides how the merge is read."""

LINK, SUBMODULE = "120000", "160000"

_TOKENS: Final = {
    "a private key": rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "a GitHub token": rb"\b(?:gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    "a GitLab token": rb"\bglpat-[A-Za-z0-9_-]{20,}",
    "an AWS access key": rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a Slack token": rb"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a Stripe key": rb"\b[rs]k_live_[A-Za-z0-9]{20,}",
    "an OpenAI key": rb"\bsk-(?!ant-)(?:proj-|svcacct-)?[A-Za-z0-9_-]{40,}",
    "an Anthropic key": rb"\bsk-ant-[A-Za-z0-9_-]{30,}",
    "a Google API key": rb"\bAIza[A-Za-z0-9_-]{35}\b",
    "a package index token": rb"\bpypi-AgEI[A-Za-z0-9_-]{50,}|\bnpm_[A-Za-z0-9]{36}\b",
}
"""Keys by the marks that their services give them. Source: each service's documentation of its formats."""


class Limits(Struct, frozen=True):
    """How much may be published without a question."""

    patch_bytes: int = 1024 * 1024
    files: int = 300
    allow: tuple[str, ...] = ()
    """Globs that lift `FORBIDDEN`, and the run's protected paths, for the paths they match."""


class Change(Struct, frozen=True):
    """One path that would change, as git sees it."""

    path: str
    status: str
    """A, M, D or T, as `git diff-tree --raw` says."""
    mode: str
    """Of the new side; 000000 when it is gone."""


def refusals(
    patch: bytes, changes: Sequence[Change], protect: Sequence[str], limits: Limits, mask: Masker
) -> tuple[str, ...]:
    """Each reason why this patch is not published, one line each; none: it may be.

    `protect` holds the protected paths that the run's report says were touched, relative to the workspace.
    """
    return tuple(
        dict.fromkeys(
            (
                *_sizes(patch, changes, limits),
                *_paths(changes, protect, limits.allow),
                *_kinds(changes),
                *_secrets(patch, mask),
            )
        )
    )


def _sizes(patch: bytes, changes: Sequence[Change], limits: Limits) -> Iterator[str]:
    if len(patch) > limits.patch_bytes:
        yield f"the patch has {len(patch):,} bytes, more than {limits.patch_bytes:,} (--max-patch-bytes)"
    if len(changes) > limits.files:
        yield f"the patch changes {len(changes):,} files, more than {limits.files:,} (--max-files)"


def _paths(changes: Iterable[Change], protect: Sequence[str], allow: Sequence[str]) -> Iterator[str]:
    for change in changes:
        path = change.path
        if any(part.lower() in {".git", "..", ""} for part in path.split("/")) or "\\" in path:
            yield f"{quoted(path)}: no path for a file of a repository"
        elif _matches(path, allow):
            continue
        elif _matches(path, FORBIDDEN):
            yield f"{quoted(path)}: runs with rights of its own once it is merged (lift it with --allow)"
        elif any(path == touched or path.endswith(f"/{touched}") for touched in protect):
            yield f"{quoted(path)}: protected by the task's own spec (lift it with --allow)"


def _kinds(changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        if change.mode == SUBMODULE:
            yield f"{quoted(change.path)}: a submodule"
        elif change.mode == LINK:
            yield f"{quoted(change.path)}: a symbolic link"


def _secrets(patch: bytes, mask: Masker) -> Iterator[str]:
    if mask.mask_bytes(patch) != patch:
        yield "the patch holds the value of a secret of this job"
    added = b"\n".join(line[1:] for line in patch.split(b"\n") if line.startswith(b"+"))
    for name, pattern in _TOKENS.items():
        if re.search(pattern, added):
            yield f"the patch adds what looks like {name}"


def _matches(path: str, globs: Sequence[str]) -> bool:
    """As .gitignore reads a list of globs, case left out: a file system may not tell `.GitHub` apart."""
    is_matched = False
    for glob in globs:
        regex, is_included = gitignore_regex(glob)
        if regex is not None and (regex.search(path) or regex.search(path.lower())):
            is_matched = is_included
    return is_matched
