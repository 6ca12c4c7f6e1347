"""--filter: which tasks, by id or tag, and in which repositories of their suites' matrices."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pi_batch.errors import EmptySelection
from pi_batch.load.matrix import RepoChoice
from pi_batch.load.options import PlanOptions
from pi_batch.load.repositories import choices_of
from pi_batch.load.suite import Member, Suite
from pi_batch.spec import TaskSpec
from pi_batch.wording import listed, quoted

OF_REPOSITORIES = "repo:"


def selected(members: Sequence[Member], specs: Sequence[str], options: PlanOptions) -> list[Member]:
    """The tasks that match a filter and have somewhere to run. Raises: EmptySelection."""
    chosen = [
        member
        for member in members
        if _matches(member.task.spec, options.filter) and places(member.suite, options.filter)
    ]
    if chosen:
        return chosen
    if not members:
        raise EmptySelection(f"no task in {listed(specs)}")
    filters = " ".join(f"--filter {pattern}" for pattern in options.filter)
    ids = listed(member.task.spec.id for member in members)
    names = dict.fromkeys(choice.name for member in members for choice in member.suite.matrix.repos)
    repos = f"; repositories: {listed(names)}" if names else ""
    raise EmptySelection(f"no task matches {quoted(filters)[1:-1]} (tasks: {ids}{repos})")


def places(suite: Suite, patterns: Sequence[str]) -> tuple[RepoChoice | None, ...]:
    """Where a suite's tasks run: all of its places, or the repositories that `repo:GLOB` names."""
    globs = [glob.removeprefix(OF_REPOSITORIES) for glob in patterns if glob.startswith(OF_REPOSITORIES)]
    return tuple(
        choice
        for choice in choices_of(suite)
        if not globs or (choice is not None and any(fnmatchcase(choice.name, glob) for glob in globs))
    )


def _matches(spec: TaskSpec, patterns: Sequence[str]) -> bool:
    """Whether any of the patterns over tasks matches; without such a pattern all do."""
    of_tasks = [pattern for pattern in patterns if not pattern.startswith(OF_REPOSITORIES)]
    for pattern in of_tasks:
        of_tags = pattern.removeprefix("tag:")
        names = spec.tags if of_tags != pattern else (spec.id,)
        if any(fnmatchcase(name, of_tags) for name in names):
            return True
    return not of_tasks
