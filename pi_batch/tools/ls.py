"""ls: what a directory holds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from posixpath import dirname
from typing import Annotated

from pi_batch.arguments import ToolArguments, said
from pi_batch.errors import ToolError
from pi_batch.messages import TextBlock
from pi_batch.permissions import check_path
from pi_batch.protocols import DirEntry, ToolContext, ToolOutput
from pi_batch.spec import PathRules
from pi_batch.text import truncate_head
from pi_batch.tools.arguments import PATH_SPELLINGS, Limit
from pi_batch.tools.ignored import IgnoreFile, below, for_named_directory, is_ignored, sources_in
from pi_batch.tools.paths import no_such_file, printable, said_of, shown_path, workspace_path
from pi_batch.tools.wording import count_of, size_of, with_notes

DEFAULT_LIMIT = 500
NAMED_IGNORED = 10
"""Ignored names that the note lists."""
MAX_IGNORE_FILE_BYTES = 1024 * 1024


class LsArguments(ToolArguments, frozen=True, kw_only=True):
    """What ls takes."""

    path: Annotated[str, said("Directory to list.", *PATH_SPELLINGS)] = "."
    limit: Annotated[
        Limit | None, said(f"Most entries to give. Left out: {DEFAULT_LIMIT}.", "max_entries")
    ] = None


class Ls:
    """Lists names in one order for all: directories with a slash, links with where they point.

    What git ignores, and `.git`, is named in a note only. `value`: the names, directories with a slash.
    """

    name = "ls"
    description = (
        "List a directory: dot files included, name/ for directories, name@ -> target for links. What git "
        f"ignores is left out and said. At most {DEFAULT_LIMIT} entries unless limit says more."
    )
    arguments = LsArguments
    is_read_only = True
    returns = "list[str]"

    def __init__(self, rules: PathRules | None = None) -> None:
        self._rules = rules or PathRules()

    def written_paths(self, arguments: LsArguments) -> tuple[str, ...]:
        """Nothing is written."""
        return ()

    async def run(self, arguments: LsArguments, context: ToolContext) -> ToolOutput:
        """List. Raises: ToolError saying what is there instead of a directory."""
        directory = await _directory(context, arguments.path)
        with said_of(arguments.path):
            entries = await context.sandbox.list(directory)
            files = await _ignore_files(context, directory)
        entries, ignored = _split(entries, files, directory)
        allowed = [entry for entry in entries if not self._is_hidden(context, directory, entry)]
        allowed.sort(key=lambda entry: (entry.name.casefold(), entry.name))
        asked = sys.maxsize if context.is_inner else DEFAULT_LIMIT
        limit = arguments.limit or asked
        lines, names = [], []
        for entry in allowed[:limit]:
            line, name = await _described(context, directory, entry)
            lines.append(line)
            names.append(name)
        notes = _notes(limit, len(allowed), len(entries) - len(allowed), ignored)
        if not lines:
            lines = [f"{shown_path(context, directory)}: {'nothing to show' if notes else 'empty directory'}"]
        shown = truncate_head("\n".join(lines), len(lines))
        if shown.is_truncated:
            notes.append(f"Truncated: {shown.kept_lines} of {shown.total_lines} entries shown (50 KB limit)")
        return ToolOutput((TextBlock(with_notes(shown.text, notes)),), {"entries": len(allowed)}, value=names)

    def _is_hidden(self, context: ToolContext, directory: str, entry: DirEntry) -> bool:
        """Whether the permissions hide it; a directory shows where an allow list may name what is in it."""
        if entry.kind == "directory" and not self._rules.deny:
            return False
        path = workspace_path(context, f"{directory.rstrip('/')}/{entry.name}")
        rule = check_path(self._rules, path)
        return rule is not None and not (entry.kind == "directory" and rule.startswith("allow"))


async def _directory(context: ToolContext, path: str) -> str:
    real = await context.resolve(path or ".", for_writing=False)
    with said_of(path):
        stat = await context.sandbox.stat(real)
    if stat is None:
        raise await no_such_file(context, path, real)
    if stat.kind != "directory":
        raise ToolError(
            f"{printable(path)} is a file ({size_of(stat.size_bytes)}), not a directory. Use read."
        )
    return real


async def _ignore_files(context: ToolContext, directory: str) -> list[IgnoreFile]:
    """The ignore files that count for a directory that was named."""
    top = context.workspace
    step = directory
    while step != "/":
        if await context.sandbox.stat(f"{step}/.git") is not None:
            top = step
            break
        step = dirname(step)
    files = []
    for step in below(top, directory):
        for path in sources_in(step, is_top=step == top):
            stat = await context.sandbox.stat(path)
            if stat is not None and stat.kind == "file":
                raw = await context.sandbox.read(path, limit_bytes=MAX_IGNORE_FILE_BYTES)
                files.append(IgnoreFile(step, raw.decode("utf-8", "surrogateescape")))
    return for_named_directory(files, directory)


def _split(
    entries: Sequence[DirEntry], files: Sequence[IgnoreFile], directory: str
) -> tuple[list[DirEntry], list[str]]:
    """(entries to show, names that are ignored)."""
    kept: list[DirEntry] = []
    ignored: list[str] = []
    for entry in entries:
        is_dir = entry.kind == "directory"
        path = f"{directory.rstrip('/')}/{entry.name}"
        if entry.name == ".git" or is_ignored(files, path, is_dir=is_dir):
            ignored.append(f"{printable(entry.name)}{'/' if is_dir else ''}")
        else:
            kept.append(entry)
    return kept, ignored


async def _described(context: ToolContext, directory: str, entry: DirEntry) -> tuple[str, str]:
    """(the line for the model, the name for a script)."""
    name = printable(entry.name)
    match entry.kind:
        case "directory":
            return f"{name}/", f"{name}/"
        case "link":
            stat = await context.sandbox.stat(f"{directory}/{entry.name}")
            dead = " (dead link)" if stat is None else ""
            slash = "/" if stat is not None and stat.kind == "directory" else ""
            return f"{name}@ -> {printable(entry.link_target or '?')}{dead}", f"{name}{slash}"
        case "other":
            return f"{name} (pipe, socket or device)", name
        case _:
            return name, name


def _notes(limit: int, total: int, hidden: int, ignored: Sequence[str]) -> list[str]:
    notes = []
    if total > limit:
        notes.append(f"{limit} of {total} entries shown. Use limit={total} for all")
    if ignored:
        names = ", ".join(ignored[:NAMED_IGNORED])
        more = ", …" if len(ignored) > NAMED_IGNORED else ""
        notes.append(f"Left out as ignored by git: {names}{more}")
    if hidden:
        notes.append(f"{count_of(hidden, 'entry')} left out by permissions.read")
    return notes
