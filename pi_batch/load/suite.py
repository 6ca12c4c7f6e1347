"""Spec files: a task, or a suite with tasks of its own, tasks in other files, and what they share."""

from __future__ import annotations

import glob
import hashlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final

from msgspec import Struct, field

from pi_batch.load.decode import INVALID, Decoding, decode_model
from pi_batch.load.matrix import NO_MATRIX, Matrix, read_matrix
from pi_batch.load.nodes import Fields, Items, Node, Scalar, got
from pi_batch.load.problems import Problems, Where
from pi_batch.load.task import LoadedTask, check_defaults, load_task
from pi_batch.load.yaml import read_yaml
from pi_batch.spec import SuiteSpec, TaskSpec
from pi_batch.wording import nearest, quoted

SUFFIXES: Final = (".yaml", ".yml")
BUILTIN: Final = "builtin:"
MAX_MATCHES: Final = 10_000
"""Of one glob."""

_SUITE_ONLY = frozenset(SuiteSpec.__struct_fields__) - frozenset(TaskSpec.__struct_fields__)
_SUITE_HINTS = {
    **dict.fromkeys(TaskSpec.__struct_fields__, "it belongs to a task, or under defaults:"),
    "jobs": "did you mean 'max_parallel'?",
}


class SpecFile(Struct, frozen=True):
    """A file that was asked for."""

    path: Path
    """Absolute."""
    name: str
    """As reports show it."""
    directory: Path
    """Where relative paths in it start."""


class Suite(Struct, frozen=True):
    """What holds for all tasks of a suite; a file with one task is a suite without a say."""

    stem: str
    spec: SuiteSpec = field(default_factory=lambda: SuiteSpec(tasks=()))
    defaults: Fields | None = None
    matrix: Matrix = NO_MATRIX
    written: frozenset[str] = frozenset()
    """The keys that its file has."""

    @property
    def varying(self) -> frozenset[str]:
        """The inputs in its matrix."""
        return frozenset(self.matrix.inputs)


class Places(Struct, frozen=True):
    """Where the names in a suite lead."""

    cwd: Path
    builtin_dir: Path | None


class Member(Struct, frozen=True):
    """A task and the suite that it runs in."""

    task: LoadedTask
    suite: Suite
    spec_sha256: str


def load_file(
    file: SpecFile, cwd: Path, problems: Problems, builtin_dir: Path | None = None
) -> tuple[Member, ...]:
    """The tasks of a file, suite or not; what is wrong is noted. `builtin_dir` is where `builtin:NAME` is."""
    node = read_yaml(file.path, file.name, file.directory, problems)
    if node is None:
        return ()
    if not isinstance(node, Fields):
        message = f"got {got(node)}, need a mapping: a task with prompt:, or a suite with tasks:"
        problems.add(node, Where(), message)
        return ()
    stem = file.path.stem
    if is_suite(node):
        name = file.path.parent.name if stem == "suite" else stem
        return tuple(_load_suite(node, name or stem, Places(cwd, builtin_dir), problems))
    task = load_task(node, None, stem, Where(), varying=frozenset(), problems=problems)
    return (Member(task, Suite(stem), node.source.sha256),) if task else ()


def is_suite(node: Fields) -> bool:
    """Whether a file lists tasks, or has at least keys that only a suite has."""
    keys = {entry.key for entry in node.entries}
    return "tasks" in keys or ("prompt" not in keys and bool(keys & _SUITE_ONLY))


def _load_suite(node: Fields, stem: str, places: Places, problems: Problems) -> Iterator[Member]:
    spec = decode_model(node, SuiteSpec, Where(), Decoding(problems, {}, {}, _SUITE_HINTS))
    defaults, tasks, matrix = node.get("defaults"), node.get("tasks"), node.get("matrix")
    defaults = defaults if isinstance(defaults, Fields) else None
    if defaults:
        check_defaults(defaults, Where("defaults"), problems)
    suite = Suite(
        stem,
        SuiteSpec(tasks=()) if spec is INVALID else spec,
        defaults,
        read_matrix(matrix, problems) if isinstance(matrix, Fields) else NO_MATRIX,
        frozenset(str(entry.key) for entry in node.entries),
    )
    loaded: set[Path] = set()
    for number, item in enumerate(tasks.nodes if isinstance(tasks, Items) else ()):
        where = Where(f"tasks[{number}]")
        match item:
            case Fields():
                task = load_task(item, defaults, None, where, varying=suite.varying, problems=problems)
                if task:
                    digest = hashlib.sha256(f"{item.source.sha256}\n{task.spec.id}".encode()).hexdigest()
                    yield Member(task, suite, digest)
            case Scalar() if item.style != "refused":
                files = [file for file in _named(item, where, places, problems) if file.path not in loaded]
                loaded.update(file.path for file in files)
                for file in files:
                    yield from _member(file, item, where, suite, problems)
            case Items():
                problems.add(item, where, "got a list, need a path, a glob or a task")


def _member(file: SpecFile, at: Node, where: Where, suite: Suite, problems: Problems) -> Iterator[Member]:
    """The task in a file that a suite names."""
    node = read_yaml(file.path, file.name, file.directory, problems)
    if isinstance(node, Fields) and is_suite(node):
        problems.add(at, where, f"got {quoted(file.name)}, a suite; need a task: suites do not nest")
    elif isinstance(node, Fields):
        task = load_task(
            node, suite.defaults, file.path.stem, Where(), varying=suite.varying, problems=problems
        )
        if task:
            yield Member(task, suite, node.source.sha256)
    elif node is not None:
        problems.add(node, Where(), f"got {got(node)}, need a mapping: a task with prompt:")


def _named(item: Scalar, where: Where, places: Places, problems: Problems) -> list[SpecFile]:
    """The files that one path, glob or built-in name of a suite means."""
    try:
        if item.text.startswith(BUILTIN):
            return _builtin(item, where, places, problems)
        return _existing(item, where, places.cwd, problems)
    except OSError as error:
        problems.add(item, where, f"got {quoted(item.text)}, which cannot be read: {error.strerror or error}")
        return []


def _builtin(item: Scalar, where: Where, places: Places, problems: Problems) -> list[SpecFile]:
    """A built-in task; what it names is relative to the current directory, as on the command line."""
    directory, name = places.builtin_dir, item.text.removeprefix(BUILTIN)
    found = directory_files(directory, "", places.cwd) if directory and directory.is_dir() else []
    paths = {file.path.stem: file.path for file in found}
    if name not in paths:
        message = f"got {quoted(item.text)}, which is no built-in task{nearest(name, paths)}"
        problems.add(item, where, message)
        return []
    return [SpecFile(paths[name], item.text, places.cwd)]


def _existing(item: Scalar, where: Where, cwd: Path, problems: Problems) -> list[SpecFile]:
    directory = item.source.directory
    if item.is_null or not item.text.strip() or "\0" in item.text:
        problems.add(item, where, f"got {got(item)}, need a path, a glob or a task")
        return []
    path = directory / item.text
    if path.is_dir():
        return directory_files(path, _member_name(item, item.text), cwd)
    names = [item.text] if path.exists() or not glob.has_magic(item.text) else _matches(item)
    if not names:
        problems.add(item, where, f"got {quoted(item.text)}, which matches no .yaml file in {directory}")
    if names == [item.text] and not path.exists():
        siblings = directory_files(path.parent, "", cwd) if path.parent.is_dir() else []
        close = nearest(path.stem, [sibling.path.stem for sibling in siblings])
        problems.add(item, where, f"got {quoted(item.text)}, which is no file{close}")
        return []
    return [spec_file(directory / name, _member_name(item, name), cwd) for name in names]


def _matches(item: Scalar) -> list[str]:
    """Spec files that a glob matches, sorted, the suite itself left out."""
    found = glob.iglob(item.text, root_dir=item.source.directory, recursive=True)  # noqa: PTH207 (absolute ones too)
    names = sorted(itertools.islice(found, MAX_MATCHES))
    paths = {name: item.source.directory / name for name in names if name.endswith(SUFFIXES)}
    return [name for name, path in paths.items() if path.is_file() and not path.samefile(item.source.path)]


def _member_name(item: Scalar, name: str) -> str:
    return str(PurePath(item.source.name).parent / name)


def spec_file(path: Path, name: str, cwd: Path) -> SpecFile:
    """A file by its absolute path, shown relative to the current directory where it is below that."""
    path = Path(os.path.normpath(path))  # not resolve(): a link keeps the name that the user gave it
    shown = path.relative_to(cwd) if path.is_relative_to(cwd) else PurePath(name)
    return SpecFile(path, shown.as_posix(), path.parent)


def directory_files(directory: Path, name: str, cwd: Path) -> list[SpecFile]:
    """A directory's own *.yaml and *.yml files, sorted by name, hidden ones left out."""
    paths = sorted(path for path in directory.iterdir() if path.suffix in SUFFIXES)
    visible = [path for path in paths if not path.name.startswith(".") and path.is_file()]
    return [spec_file(path, str(PurePath(name) / path.name), cwd) for path in visible]
