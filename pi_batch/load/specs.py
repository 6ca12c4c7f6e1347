"""SPEC words to tasks: an existing file or directory first, then a built-in name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pi_batch.load.nodes import Scalar
from pi_batch.load.problems import Problems, Where
from pi_batch.load.suite import SUFFIXES, Member, SpecFile, directory_files, load_file, spec_file
from pi_batch.wording import listed, nearest, printable, quoted

_PACKAGE = Path(__file__).resolve().parent.parent


def builtin_directory() -> Path:
    """Where built-in specs are: in the installed package, or beside it in a checkout."""
    packaged = _PACKAGE / "tasks"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "tasks"


def builtin_names(directory: Path) -> tuple[str, ...]:
    """Names of the built-in specs, sorted."""
    if not directory.is_dir():
        return ()
    return tuple(sorted(path.stem for path in directory.iterdir() if path.suffix in SUFFIXES))


def builtin_suites(directory: Path) -> tuple[str, ...]:
    """Names of the built-in suites, sorted: directories with a suite.yaml."""
    return tuple(sorted(path.parent.name for path in directory.glob("*/suite.yaml")))


def load_specs(
    words: Sequence[str], cwd: Path, builtin_dir: Path | None, problems: Problems
) -> tuple[Member, ...]:
    """Every task of every SPEC, each file once, ids unique; what is wrong is noted.

    A directory stands for its own *.yaml and *.yml files, sorted by name, hidden ones left out.
    """
    members: list[Member] = []
    loaded: set[Path] = set()
    for word in words:
        for file in _files(word, cwd, builtin_dir or builtin_directory(), problems):
            if file.path not in loaded:
                loaded.add(file.path)
                members += load_file(file, cwd, problems, builtin_dir or builtin_directory())
    _note_repeated_ids(members, problems)
    return tuple(members)


def _files(word: str, cwd: Path, builtin_dir: Path, problems: Problems) -> list[SpecFile]:
    if not word:
        problems.add_plain("SPEC", "got '', need a file, a directory or a built-in name")
        return []
    path = cwd / word
    try:
        if path.is_dir():
            return directory_files(path, word, cwd)
        if path.exists() or path.is_symlink():
            return [spec_file(path, word, cwd)]
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        problems.add_plain(printable(word), f"cannot be read: {reason or error}")
        return []
    names = builtin_names(builtin_dir)
    for suffix in SUFFIXES:
        if word in names and (builtin_dir / f"{word}{suffix}").is_file():
            return [SpecFile(builtin_dir / f"{word}{suffix}", f"builtin:{word}", cwd)]
    suites = builtin_suites(builtin_dir)
    if word in suites:
        path = builtin_dir / word / "suite.yaml"
        return [SpecFile(path, f"builtin:{word}/suite.yaml", path.parent)]
    names = (*names, *suites)
    message = f"no such file or directory, and no built-in task{nearest(word, names)}"
    have = f" (built-in tasks: {listed(names)})" if names else ""
    problems.add_plain(printable(word), message + have)
    return []


def _note_repeated_ids(members: Sequence[Member], problems: Problems) -> None:
    """Ids name directories, so they differ in more than case."""
    first: dict[str, str] = {}
    for member in members:
        node = member.task.at("id")
        name = member.task.spec.id
        if not isinstance(node, Scalar):
            continue
        place = f"{node.source.name}:{node.line}"
        other = first.setdefault(name.casefold(), place)
        if other is not place:
            where = Where(member.task.where.prefix).down("id")
            if other == place:
                message = f"the task {quoted(name)} runs twice: by itself and in a suite, or in two suites"
            else:
                message = f"got {quoted(name)}, already the id of the task at {other}"
            problems.add(node, where, message)
