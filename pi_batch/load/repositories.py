"""Tasks in other repositories: what of a task and its suite's matrix fits together, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.load.matrix import RepoChoice
from pi_batch.load.nodes import Node
from pi_batch.load.problems import Problems, Where
from pi_batch.load.rules import relative_path
from pi_batch.load.suite import Member, Suite
from pi_batch.load.task import LoadedTask
from pi_batch.repository_address import address_of
from pi_batch.spec import SuiteBudgetSpec, WorkspaceSpec
from pi_batch.wording import nearest, quoted


class Site(Struct, frozen=True):
    """Where one variant of a task works, in a repository or not."""

    workspace: WorkspaceSpec
    """A local repository by its absolute path."""
    choice: RepoChoice | None = None
    """Of the matrix."""

    @property
    def name(self) -> str:
        """The repository's name in the matrix; empty without one."""
        return self.choice.name if self.choice else ""


def choices_of(suite: Suite) -> tuple[RepoChoice | None, ...]:
    """The repositories that each task of a suite runs in; None stands for its own workspace."""
    return suite.matrix.repos or (None,)


def site_of(task: LoadedTask, choice: RepoChoice | None) -> Site:
    """A task's workspace for one choice of the matrix."""
    own = task.spec.workspace
    if choice is not None:
        spec = choice.spec
        own = replace(
            own,
            repo=_absolute(spec.repo, choice.node),
            ref=spec.ref or own.ref,
            path=own.path if spec.path is None else spec.path,
        )
    elif own.repo is not None:
        own = replace(own, repo=_absolute(own.repo, task.at("workspace", "repo") or task.node))
    return Site(own, choice)


def _absolute(repo: str, node: Node) -> str:
    address = address_of(repo)
    return address.below(node.source.directory).url if address.kind == "local" else repo


def note_misfits(members: Sequence[Member], problems: Problems) -> None:
    """Note what of tasks and the repositories of their suites contradicts each other."""
    for member in members:
        for node, where, message in _misfits(member.task, member.suite):
            problems.add(node, where, message)
    for suite in {id(member.suite): member.suite for member in members}.values():
        known = {name for member in members if member.suite is suite for name in member.task.spec.inputs}
        for choice in suite.matrix.repos:
            for name in choice.spec.inputs:
                below = choice.where.down("inputs").down(name)
                if name not in choice.inputs:
                    problems.add(choice.node, below, "need one value")
                elif name not in known:
                    message = f"no task of the suite has an input of that name{nearest(name, known)}"
                    problems.add(choice.inputs[name], below, message)


def _misfits(task: LoadedTask, suite: Suite) -> Iterator[tuple[Node, Where, str]]:
    spec, where, repos = task.spec.workspace, task.where.down("workspace"), suite.matrix.repos
    repo, ref = task.at("workspace", "repo"), task.at("workspace", "ref")
    if repo and repos:
        yield repo, where.down("repo"), "the suite's matrix has repositories, too; leave one of them out"
    if ref and spec.repo is None and not repos:
        yield ref, where.down("ref"), "belongs to repo:, which is not there"
    if spec.repo is None and not repos:
        return
    isolation, path = task.at("workspace", "isolation"), task.at("workspace", "path")
    if isolation and spec.isolation != "clone":
        message = f"got {quoted(spec.isolation)}, need clone: another repository is always cloned"
        yield isolation, where.down("isolation"), message
    is_overruled = bool(repos) and all(choice.spec.path is not None for choice in repos)
    if path and relative_path(spec.path) and not is_overruled:
        message = f"got {quoted(spec.path)}, need a directory of the repository"
        yield path, where.down("path"), message


def note_distrusted(task: LoadedTask, site: Site, problems: Problems) -> None:
    """Note a local repository of a task that trusts nothing: git would run with its settings."""
    repo = site.workspace.repo
    if repo is None or address_of(repo).kind != "local":
        return
    choice = site.choice
    node = choice.node if choice else task.at("workspace", "repo") or task.node
    where = choice.where if choice else task.where.down("workspace").down("repo")
    problems.add(node, where, f"got {quoted(repo)}, need an https or ssh URL with trust: untrusted")


def budget_of(suite: Suite, choice: RepoChoice) -> SuiteBudgetSpec:
    """What all tasks of one repository may spend together."""
    return replace(suite.spec.repo_budget, **choice.budget)
