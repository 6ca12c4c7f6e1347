"""git's ignore files: which of them count for a directory, and what they say of a path in it.

Source: gitignore(5). Counted are the `.gitignore` files from the repository's top (the nearest directory
with a `.git`, else the workspace) down to the path, and `.git/info/exclude`; not a user's global file,
which would make a run depend on whose machine it is. A file that is tracked and ignored counts as ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pi_batch.permissions import gitignore_regex


class IgnoreFile:
    """The patterns of one file."""

    def __init__(self, base: str, text: str) -> None:
        """`base`: the directory that the patterns are relative to."""
        self.base = base
        self._prefix = len(base.rstrip("/")) + 1
        self._rules = tuple(_rules(text))

    def verdict(self, path: str, *, is_dir: bool) -> bool | None:
        """Whether a path below `base` is ignored; None when no pattern is about it."""
        relative = path[self._prefix :]
        for regex, is_ignored in reversed(self._rules):
            if _is_about(regex, relative, is_dir=is_dir):
                return is_ignored
        return None


def is_ignored(files: Sequence[IgnoreFile], path: str, *, is_dir: bool) -> bool:
    """What the files say of a path whose directory is not ignored; the last that says anything decides."""
    for file in reversed(files):
        verdict = file.verdict(path, is_dir=is_dir)
        if verdict is not None:
            return verdict
    return False


def ancestors(directory: str) -> list[str]:
    """A directory and all above it, from the root down."""
    parts = [part for part in directory.split("/") if part]
    return ["/", *("/" + "/".join(parts[:count]) for count in range(1, len(parts) + 1))]


def below(top: str, directory: str) -> list[str]:
    """The directories from `top` down to `directory`, both included; empty when it is not below."""
    return [step for step in ancestors(directory) if step == top or step.startswith(top.rstrip("/") + "/")]


def sources_in(directory: str, *, is_top: bool) -> Iterator[str]:
    """The ignore files that a directory may hold, weakest first."""
    root = directory.rstrip("/")
    if is_top:
        yield f"{root}/.git/info/exclude"
    yield f"{root}/.gitignore"


def for_named_directory(files: Sequence[IgnoreFile], directory: str) -> list[IgnoreFile]:
    """The files that count below a directory that was named: not those that ignore it, or a parent of it."""
    counted = list(files)
    for ancestor in ancestors(directory):
        above = [file for file in counted if ancestor.startswith(file.base.rstrip("/") + "/")]
        if is_ignored(above, ancestor, is_dir=True):
            counted = [file for file in counted if file not in above]
    return counted


def _is_about(regex: re.Pattern[str], path: str, *, is_dir: bool) -> bool:
    """Whether a pattern is about the path itself, and not only about a directory above it.

    pathspec's expressions match what is in a directory too; the group `ps_d` is the slash behind the
    directory that they name. Those without it (`dir/**`) are about what is inside only.
    """
    if "ps_d" not in regex.groupindex:
        return regex.search(path) is not None
    subject = f"{path}/" if is_dir else path
    return any(match.end("ps_d") in (-1, len(subject)) for match in regex.finditer(subject))


def _rules(text: str) -> Iterator[tuple[re.Pattern[str], bool]]:
    """(expression, whether what it matches is ignored)."""
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        regex, ignores = gitignore_regex(line)
        if regex is not None:
            yield regex, ignores
