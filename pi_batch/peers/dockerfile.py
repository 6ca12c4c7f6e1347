"""What a Dockerfile would put into the working directory, where that needs no image.

Files that are copied, and where to: these can be had without one. A command that is run, a variable that
programs read, a stage that is built: these cannot, and are said with their line.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from pi_batch.peers.task_files import Files, TaskFile

DEFAULT_DIRECTORY = "/app"
HARMLESS = frozenset(
    {"FROM", "LABEL", "MAINTAINER", "CMD", "ENTRYPOINT", "EXPOSE", "ARG", "STOPSIGNAL", "SHELL"}
)
HARMLESS_VARIABLES = re.compile(r"DEBIAN_FRONTEND|TEST_DIR|LANG|LC_\w+|TZ|(PYTHON|PIP_|UV_)\w+")
MAX_FILE_BYTES = 32 * 1024 * 1024


class Image(Struct, frozen=True):
    """What a Dockerfile comes to without an image."""

    directory: str
    """The working directory inside."""
    files: Files
    """By their paths below it."""
    reasons: tuple[str, ...]
    """What needs an image; empty: nothing does."""


def read_dockerfile(text: str, context: Path, name: str) -> Image:
    """Go through a Dockerfile; `context` is the directory that it copies from. Raises: OSError."""
    directory = ""
    files: dict[str, TaskFile] = {}
    reasons: list[str] = []
    copies: list[tuple[int, str, str]] = []
    for number, word, rest in _instructions(text):
        match word:
            case "WORKDIR":
                directory = str(PurePosixPath(directory or "/") / rest.strip().strip("\"'"))
            case "COPY" | "ADD":
                copies.append((number, directory, rest))
            case "FROM" if number > 1 and any(True for _, seen, _ in _before(text, number) if seen == "FROM"):
                reasons.append(f"{name}:{number}: several stages need an image")
            case "ENV" if all(HARMLESS_VARIABLES.fullmatch(key) for key in _variables(rest)):
                pass
            case _ if word not in HARMLESS:
                reasons.append(f"{name}:{number}: {word} {rest[:60].strip()}: needs an image")
    final = directory or DEFAULT_DIRECTORY
    for number, at, rest in copies:
        try:
            files |= _copied(rest, context, at or final, final)
        except ValueError as error:
            reasons.append(f"{name}:{number}: COPY {rest[:60].strip()}: {error}")
    return Image(final, files, tuple(reasons))


def _before(text: str, number: int) -> Iterator[tuple[int, str, str]]:
    yield from (one for one in _instructions(text) if one[0] < number)


def _instructions(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, instruction, arguments; continued lines joined, comments left out."""
    whole, start = "", 0
    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        start = start or number
        if raw.rstrip().endswith("\\"):
            whole += raw.rstrip()[:-1] + " "
            continue
        word, _, rest = (whole + raw).strip().partition(" ")
        yield start, word.upper(), rest.strip()
        whole, start = "", 0


def _variables(rest: str) -> list[str]:
    """The names that ENV sets, in both of its forms."""
    first = rest.split(None, 1)[0] if rest.split() else ""
    if "=" not in first:
        return [first]
    try:
        words = shlex.split(rest)
    except ValueError:
        return [rest]
    return [word.partition("=")[0] for word in words]


def _copied(rest: str, context: Path, at: str, final: str) -> dict[str, TaskFile]:
    """The files of one COPY by their paths below `final`. Raises: ValueError with why not, OSError."""
    words = _words(rest)
    if len(words) < 2:
        raise ValueError("needs what and where to")
    *sources, target = words
    destination = PurePosixPath(at) / target
    found: dict[str, TaskFile] = {}
    is_directory = target.endswith("/") or target in (".", "./") or len(sources) > 1
    for source in sources:
        matches = sorted(context.glob(source.lstrip("/"))) if source.strip("./") else [context]
        if not matches:
            raise ValueError(f"{source} is not there")
        for path in matches:
            inside = path.resolve()
            if not inside.is_relative_to(context.resolve()):
                raise ValueError(f"{source} lies outside of the task")
            name = destination / path.name if is_directory and path.is_file() else destination
            found |= {_below(one, final): file for one, file in _tree(path, name)}
    return {name: file for name, file in found.items() if name not in ("Dockerfile", ".dockerignore")}


def _words(rest: str) -> list[str]:
    """Sources and target, flags left out. Raises: ValueError for what cannot be done here."""
    words = rest.split()
    while words and words[0].startswith("--"):
        if words[0].startswith("--from"):
            raise ValueError("another stage needs an image")
        words = words[1:]
    if words and words[0].startswith("["):
        try:
            parsed = json.loads(" ".join(words))
        except ValueError:
            raise ValueError("is no JSON list") from None
        words = [str(word) for word in parsed]
    if any(word.startswith(("http://", "https://", "<<")) for word in words):
        raise ValueError("needs an image")
    return words


def _below(path: PurePosixPath, directory: str) -> str:
    """Raises: ValueError."""
    try:
        return path.relative_to(directory).as_posix()
    except ValueError:
        raise ValueError(f"{path} lies outside of {directory}: needs an image") from None


def _tree(path: Path, name: PurePosixPath) -> Iterator[tuple[PurePosixPath, TaskFile]]:
    """A file, or all below a directory; links and what is not a file are left out."""
    if path.is_file() and not path.is_symlink():
        yield name, read_task_file(path)
    elif path.is_dir():
        for inner in sorted(path.rglob("*")):
            if inner.is_file() and not inner.is_symlink():
                yield name / inner.relative_to(path).as_posix(), read_task_file(inner)


def read_task_file(path: Path) -> TaskFile:
    """A file with its mode. Raises: ValueError for one that is too large, OSError."""
    status = path.stat()
    if status.st_size > MAX_FILE_BYTES:
        raise ValueError(f"{path.name} has {status.st_size:,} bytes, more than {MAX_FILE_BYTES:,}")
    return TaskFile(path.read_bytes(), bool(status.st_mode & 0o100))
