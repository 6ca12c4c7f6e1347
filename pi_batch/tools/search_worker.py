"""The process that searches: a pattern that never comes to an end blocks nothing and is killed in time.

Started by `search.py` with one argument, the request as JSON; prints JSON lines: {"path", "line", "text",
"is_match"} for grep, {"path"} or {"directory"} for find, and {"end": …} or {"error": …} last. It has no
business with the engine and imports little, since it starts once per search.
"""

# os.path and open: a search starts a process, and pathlib would be a quarter of what that costs.
# ruff: noqa: PTH113, PTH116, PTH119

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from pi_batch.tools.search_globs import Glob
from pi_batch.tools.search_lines import Line, PatternError, compiled, matching_lines
from pi_batch.tools.search_walk import Entry, Walk

MAX_DIRECTORIES = 20
"""Directories that find names beside the files."""


class _Rules:
    """The read rules; `permissions.Globs`, without what a spec costs to import."""

    def __init__(self, allow: list[str] | None, deny: list[str]) -> None:
        self.allow = allow
        self.deny = deny


class Search:
    """One request being answered."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request
        self._root: str = request["root"]
        self._prefix = request["workspace"].rstrip("/") + "/"
        self._rules = _Rules(request["allow"], request["deny"])
        self._walk = Walk(self._root, request["workspace"])
        self._hidden = 0
        self._large: list[str] = []
        self._found = 0

    def run(self) -> None:
        """Print everything found, then the end."""
        is_more = self._grep() if self._request["mode"] == "grep" else self._find()
        end = {
            "is_more": is_more,
            "hidden": self._hidden,
            "large": self._large[:5],
            "unreadable": self._walk.unreadable,
        }
        _print({"end": end})

    # --- find -----------------------------------------------------------------------------------------

    def _find(self) -> bool:
        glob = Glob(self._request["pattern"])
        directories = 0
        for entry in self._walk.entries():
            if not glob.matches(self._relative(entry.path)) or self._is_hidden(entry.path):
                continue
            if entry.is_dir:
                directories += 1
                if directories <= MAX_DIRECTORIES:
                    _print({"directory": self._shown(entry.path)})
            elif self._found == self._request["limit"]:
                return True
            else:
                self._found += 1
                _print({"path": self._shown(entry.path)})
        return False

    # --- grep -----------------------------------------------------------------------------------------

    def _grep(self) -> bool:
        rg = _program("rg", self._request["search_path"])
        if rg is None:
            return self._grep_with_python()
        try:
            return self._grep_with_rg(rg)
        except (ValueError, OSError):  # the pattern, or a character that no argument can have
            if self._found:
                raise
            return self._grep_with_python()  # it may know the syntax; else its error is the answer

    def _grep_with_python(self) -> bool:
        search = self._compiled()
        return any(self._print_lines(path, list(self._lines(path, search))) for path in self._files())

    def _grep_with_rg(self, rg: str) -> bool:
        from pi_batch.tools.search_rg import batches, options_for, search_files

        request = self._request
        options = options_for(
            is_literal=request["literal"], ignores_case=request["ignore_case"], context=request["context"]
        )
        batch: list[str] | None = None
        for batch in batches(self._files()):
            most = request["limit"] - self._found + 1
            for file in search_files(rg, batch, request["pattern"], options=options, most=most):
                lines = list(self._lines(file.path, self._compiled())) if file.has_nul else file.lines
                if self._print_lines(file.path, lines):
                    return True
        if batch is None:  # no file to search: the pattern is judged all the same
            search_files(rg, [os.devnull], request["pattern"], options=options, most=1)
        return False

    def _compiled(self) -> Any:
        request = self._request
        return compiled(
            request["pattern"], is_literal=request["literal"], ignores_case=request["ignore_case"]
        )

    def _lines(self, path: str, search: Any) -> Iterator[Line]:
        most = self._request["limit"] - self._found + 1
        try:
            yield from matching_lines(path, search, self._request["context"], most)
        except OSError:
            self._walk.unreadable += 1

    def _print_lines(self, path: str, lines: list[Line]) -> bool:
        """Print up to the limit; True when there is more."""
        shown = self._shown(path)
        after = 0
        for line in lines:
            if line.is_match:
                if self._found == self._request["limit"]:
                    return True
                self._found += 1
                after = self._request["context"]
            elif self._found == self._request["limit"]:
                if not after:
                    continue
                after -= 1
            _print({"path": shown, "line": line.number, "text": line.shown(), "is_match": line.is_match})
        return False

    def _files(self) -> Iterator[str]:
        glob = self._request["glob"]
        is_exclusion = glob.startswith("!")
        wanted = Glob(glob.removeprefix("!")) if glob else None
        for entry in self._walk.entries():
            if not entry.is_file or self._is_hidden(entry.path):
                continue
            if wanted is not None and wanted.matches(self._relative(entry.path)) == is_exclusion:
                continue
            if self._is_large(entry):
                continue
            yield entry.path

    def _is_large(self, entry: Entry) -> bool:
        try:
            is_large = bool(os.stat(entry.path).st_size > self._request["max_file_bytes"])
        except OSError:
            return True
        if is_large:
            self._large.append(self._shown(entry.path))
        return is_large

    # --- paths ----------------------------------------------------------------------------------------

    def _is_hidden(self, path: str) -> bool:
        """Whether the permissions hide it."""
        if not self._rules.deny and self._rules.allow is None:
            return False
        from pi_batch.permissions import check_path

        is_hidden = check_path(self._rules, self._shown(path)) is not None
        self._hidden += is_hidden
        return is_hidden

    def _relative(self, path: str) -> str:
        """What globs are about: the path below the root, or the name of the one file."""
        prefix = self._root.rstrip("/") + "/"
        return path[len(prefix) :] if path.startswith(prefix) else os.path.basename(path)

    def _shown(self, path: str) -> str:
        return path.removeprefix(self._prefix)


def _program(name: str, search_path: str) -> str | None:
    """Where a program is; directories of the search path that are not absolute do not count."""
    for directory in search_path.split(":"):
        path = f"{directory}/{name}"
        if directory.startswith("/") and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _print(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")


def main(arguments: list[str]) -> None:
    """Answer the request that is the one argument."""
    try:
        Search(json.loads(arguments[0])).run()
    except PatternError as error:
        _print({"error": str(error)})
    sys.stdout.flush()
