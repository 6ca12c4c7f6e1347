"""The files that a search looks at, in one order for every engine: by path, part by part.

Left out: `.git`, what git's ignore files name, links (they are listed, never followed), and what the
permissions hide. A path that is named itself is searched even when it is ignored.
"""

# os.path and open: a search starts a process, and pathlib would be a quarter of what that costs.
# ruff: noqa: PTH112, PTH113, PTH123

from __future__ import annotations

import os
from collections.abc import Iterator

from pi_batch.tools.ignored import IgnoreFile, ancestors, below, for_named_directory, is_ignored, sources_in

MAX_IGNORE_FILE_BYTES = 1024 * 1024


class Entry:
    """Something that the walk came by."""

    __slots__ = ("is_dir", "is_file", "path")

    def __init__(self, path: str, *, is_file: bool, is_dir: bool) -> None:
        self.path = path
        self.is_file = is_file
        """A regular file, and no link to one."""
        self.is_dir = is_dir


class Walk:
    """One pass over a directory, or over the one file that was named."""

    def __init__(self, root: str, workspace: str) -> None:
        self._root = root
        self._workspace = workspace
        self.unreadable = 0
        """Directories that could not be listed."""

    def entries(self) -> Iterator[Entry]:
        """Files, links and directories below the root."""
        if not os.path.isdir(self._root):
            yield Entry(self._root, is_file=os.path.isfile(self._root), is_dir=False)
            return
        pending = [(self._listed(self._root), _ignore_files_for(self._root, self._workspace))]
        while pending:
            listed, files = pending[-1]
            entry = next(listed, None)
            if entry is None:
                pending.pop()
                continue
            is_dir = entry.is_dir(follow_symlinks=False)
            if is_ignored(files, entry.path, is_dir=is_dir):
                continue
            yield Entry(entry.path, is_file=entry.is_file(follow_symlinks=False), is_dir=is_dir)
            if is_dir:
                is_top = os.path.lexists(f"{entry.path}/.git")
                own = _ignore_files_in(entry.path, is_top=is_top)
                pending.append((self._listed(entry.path), [*files, *own]))

    def _listed(self, directory: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as found:
                entries = [entry for entry in found if entry.name != ".git"]
        except OSError:
            self.unreadable += 1
            return iter(())
        return iter(sorted(entries, key=lambda entry: entry.name))


def _ignore_files_for(root: str, workspace: str) -> list[IgnoreFile]:
    """The ignore files from the repository's top down to the root, those that ignore the root left out."""
    tops = [directory for directory in ancestors(root) if os.path.lexists(f"{directory}/.git")]
    top = tops[-1] if tops else workspace
    steps = below(top, root) or [root]
    files = [file for step in steps for file in _ignore_files_in(step, is_top=step == top)]
    return for_named_directory(files, root)


def _ignore_files_in(directory: str, *, is_top: bool) -> list[IgnoreFile]:
    files = []
    for path in sources_in(directory, is_top=is_top):
        if not os.path.isfile(path):  # a pipe would block
            continue
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                files.append(IgnoreFile(directory, file.read(MAX_IGNORE_FILE_BYTES)))
        except OSError:
            continue
    return files
