"""From a path as a model spells it to a regular file, or to an error that says what is there instead."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from posixpath import basename, dirname, relpath

from msgspec import Struct

from pi_batch.errors import ToolError
from pi_batch.protocols import FileStat, ToolContext

MAX_NAMES = 5000
"""Directory entries looked at for a near name."""

_FOLDED = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"'),
    **dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
}


class RegularFile(Struct, frozen=True):
    """A regular file that is there."""

    path: str
    """Real and absolute."""
    shown: str
    """Relative to the workspace where it is inside, printable."""
    stat: FileStat


def printable(name: str) -> str:
    """A file's name on one line of valid UTF-8: other bytes and control characters as escapes."""
    if name.isprintable():
        return name
    return "".join(char if char.isprintable() else _escape(char) for char in name)


def shown_path(context: ToolContext, real: str) -> str:
    """A real path as the model should spell it: relative to the workspace, absolute outside of it."""
    return printable(workspace_path(context, real))


def workspace_path(context: ToolContext, real: str) -> str:
    """A real path relative to the workspace, or as it is when outside."""
    root = context.workspace.rstrip("/")
    if real in (root, context.workspace):
        return "."
    return real[len(root) + 1 :] if real.startswith(root + "/") else real


@contextmanager
def said_of(path: str) -> Iterator[None]:
    """Turn the system's refusal of a file operation into a ToolError that names the path."""
    try:
        yield
    except OSError as error:
        raise ToolError(f"{printable(path)}: {error.strerror or error}.") from error


async def regular_file(context: ToolContext, path: str, *, for_writing: bool) -> RegularFile:
    """The regular file at a path as given. Raises: ToolError saying what is there instead."""
    real = await context.resolve(path, for_writing=for_writing)
    with said_of(path):
        stat = await context.sandbox.stat(real)
    if stat is None:
        raise await no_such_file(context, path, real)
    refuse_other_kinds(path, stat)
    return RegularFile(real, shown_path(context, real), stat)


def refuse_other_kinds(path: str, stat: FileStat) -> None:
    """Raise a ToolError for anything but a regular file: reading a pipe or device could block for ever."""
    if stat.kind == "directory":
        raise ToolError(f"{printable(path)} is a directory. List it with ls; name a file in it.")
    if stat.kind != "file":
        raise ToolError(
            f"{printable(path)} is not a regular file (it is a pipe, socket or device). "
            "Only regular files can be read or edited."
        )


async def variant(context: ToolContext, path: str) -> str | None:
    """The one existing path that differs from the given one only in how its characters are written.

    Composed or decomposed letters, kinds of blanks (macOS puts a narrow one into screenshot names) and of
    quotes, blanks at the ends, and a leading @. None when there is none, or more than one.
    """
    relative = _inside(context, path)
    if relative is None:
        return None
    found: list[str] = []
    for position, part in enumerate(relative.split("/")):
        directory = "/".join([context.workspace, *found])
        if await context.sandbox.stat(f"{directory}/{part}") is not None:
            found.append(part)
            continue
        wanted = {_fold(part)} | ({_fold(part[1:])} if position == 0 and part.startswith("@") else set())
        names = [name for name in await _names(context, directory) if _fold(name) in wanted]
        if len(names) != 1:
            return None
        found.append(names[0])
    return "/".join(found)


async def no_such_file(context: ToolContext, path: str, real: str) -> ToolError:
    """The error for a path where nothing is, with the nearest name beside it."""
    parent = dirname(real)
    names = await _names(context, parent)
    near = difflib.get_close_matches(basename(real), names, n=1)
    hint = ""
    if path.startswith("~"):
        hint = " A leading ~ is not expanded."
    elif near:
        hint = f" Did you mean {shown_path(context, f'{parent}/{near[0]}')!r}?"
    elif not names and await context.sandbox.stat(parent) is None:
        hint = f" The directory {shown_path(context, parent)!r} does not exist either."
    return ToolError(f"{printable(path)}: no such file.{hint} Paths are relative to the workspace.")


def _inside(context: ToolContext, path: str) -> str | None:
    """The path relative to the workspace without . and .. parts; None when it leads elsewhere."""
    if path.startswith("/"):
        if not path.startswith(context.workspace.rstrip("/") + "/"):
            return None
        path = relpath(path, context.workspace)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return None if not parts or ".." in parts else "/".join(parts)


def _escape(char: str) -> str:
    r"""A byte that is not UTF-8 (to Python a lone surrogate) as \xff, other characters as Python does."""
    code = ord(char)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else ascii(char)[1:-1]


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).translate(_FOLDED).strip()


async def _names(context: ToolContext, directory: str) -> list[str]:
    try:
        entries = await context.sandbox.list(directory)
    except OSError:
        return []
    return [entry.name for entry in entries[:MAX_NAMES]]
