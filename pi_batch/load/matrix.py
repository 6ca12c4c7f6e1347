"""A suite's matrix: every task runs for each model, each repository and each combination of input values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from pi_batch.load.decode import INVALID, Decoding, Rule, decode_model
from pi_batch.load.nodes import Entry, Fields, Items, Node, Scalar, got
from pi_batch.load.problems import Problems, Where
from pi_batch.load.rules import relative_path, repository, repository_name, repository_ref
from pi_batch.model_names import model_name
from pi_batch.repository_address import address_of
from pi_batch.spec import MatrixRepo
from pi_batch.wording import quoted

_RULES: Final[Mapping[str, Rule]] = {
    "repo[].repo": repository,
    "repo[].ref": repository_ref,
    "repo[].path": lambda path: relative_path(path) if path is not None else None,
    "repo[].name": repository_name,
}


class RepoChoice(Struct, frozen=True):
    """One repository that tasks run in."""

    name: str
    """Unique in its matrix."""
    spec: MatrixRepo
    node: Node
    where: Where

    @property
    def inputs(self) -> Mapping[str, Scalar]:
        """Its own values of inputs, as they are written."""
        inputs = self.node.get("inputs") if isinstance(self.node, Fields) else None
        entries = inputs.entries if isinstance(inputs, Fields) else ()
        return {entry.key: entry.node for entry in entries if isinstance(entry.node, Scalar)}

    @property
    def budget(self) -> Mapping[str, float | None]:
        """Its own limits as far as they are written; null lifts what others say."""
        budget = self.node.get("budget") if isinstance(self.node, Fields) else None
        entries = budget.entries if isinstance(budget, Fields) else ()
        return {entry.key: getattr(self.spec.budget, entry.key) for entry in entries}


class Matrix(Struct, frozen=True):
    """What varies; values stay nodes, as each task declares the type."""

    models: tuple[str, ...] = ()
    inputs: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    where: Mapping[str, Where] = field(default_factory=dict)
    """Of each input's list."""
    repos: tuple[RepoChoice, ...] = ()

    def combinations(self, names: frozenset[str]) -> Iterator[Mapping[str, Scalar]]:
        """Every choice of one value for each of these inputs that vary here."""
        varying = [name for name in self.inputs if name in names]
        for values in itertools.product(*(self.inputs[name] for name in varying)):
            yield dict(zip(varying, values, strict=True))

    def count(self, names: frozenset[str]) -> int:
        """How many there are."""
        total = 1
        for name in names & self.inputs.keys():
            total *= len(self.inputs[name])
        return total


NO_MATRIX: Final = Matrix()


def read_matrix(node: Fields, problems: Problems) -> Matrix:
    """`{model: [...], repo: [...], inputs: {NAME: [...]}}`; an input may also stand beside `model`."""
    root = Where("matrix")
    models: tuple[str, ...] = ()
    repos: tuple[RepoChoice, ...] = ()
    inputs: dict[str, tuple[Scalar, ...]] = {}
    places: dict[str, Where] = {}
    for entry, where in _lists(node, root, problems):
        if where.steps == ("repo",):
            repos = _repos(entry.node, where, problems)
            continue
        values = _values(entry.node, where, problems)
        if where.steps == ("model",):
            models = tuple(_models(values, where, problems))
        elif entry.key in inputs:
            problems.add(entry.node, where, "this input varies already", line=entry.line)
        else:
            inputs[entry.key], places[entry.key] = values, where
    return Matrix(models, inputs, places, repos)


def _lists(node: Fields, root: Where, problems: Problems) -> Iterator[tuple[Entry, Where]]:
    for entry in node.entries:
        below = root.down(entry.key)
        if entry.key != "inputs":
            yield entry, below
        elif isinstance(entry.node, Fields):
            yield from ((inner, below.down(inner.key)) for inner in entry.node.entries)
        else:
            problems.add(entry.node, below, f"got {got(entry.node)}, need a mapping: NAME: [value, ...]")


def _values(node: Node, where: Where, problems: Problems) -> tuple[Scalar, ...]:
    if not isinstance(node, Items) or not node.nodes:
        shown = "an empty list" if isinstance(node, Items) else got(node)
        problems.add(node, where, f"got {shown}, need a list of values")
        return ()
    seen: dict[Any, Scalar] = {}
    for number, item in enumerate(node.nodes):
        if not isinstance(item, Scalar) or item.is_null:
            problems.add(item, where.down(number), f"got {got(item)}, need one value")
        elif item.text in seen:
            problems.add(item, where.down(number), f"got {quoted(item.text)} a second time")
        else:
            seen[item.text] = item
    return tuple(seen.values())


def _models(values: tuple[Scalar, ...], where: Where, problems: Problems) -> Iterator[str]:
    for number, value in enumerate(values):
        complaint = model_name(value.text)
        if complaint:
            problems.add(value, where.down(number), complaint)
        else:
            yield value.text


def _repos(node: Node, where: Where, problems: Problems) -> tuple[RepoChoice, ...]:
    """Addresses, or mappings with `repo:` and what is special about it; names are unique."""
    if not isinstance(node, Items) or not node.nodes:
        shown = "an empty list" if isinstance(node, Items) else got(node)
        problems.add(node, where, f"got {shown}, need a list of repositories")
        return ()
    found: dict[str, RepoChoice] = {}
    for number, item in enumerate(node.nodes):
        choice = _repo(item, where.down(number), problems)
        if choice is None:
            continue
        if choice.name.casefold() in found:
            message = f"a second repository with the name {quoted(choice.name)}: tell them apart by name:"
            problems.add(item, choice.where, message)
        found.setdefault(choice.name.casefold(), choice)
    return tuple(found.values())


def _repo(item: Node, where: Where, problems: Problems) -> RepoChoice | None:
    if isinstance(item, Scalar) and not item.is_null:
        complaint = repository(item.text)
        if complaint:
            problems.add(item, where, complaint)
            return None
        return RepoChoice(address_of(item.text).name, MatrixRepo(repo=item.text), item, where)
    spec = decode_model(item, MatrixRepo, where, Decoding(problems, _RULES, {}, {}))
    if spec is INVALID:
        return None
    return RepoChoice(spec.name or address_of(spec.repo).name, spec, item, where)
