"""Reads `git diff-tree -z --raw --numstat`: changed files with their line counts.

Source: git-diff-tree(1) "RAW OUTPUT FORMAT" and `--numstat` under `-z`: a renamed file's record ends in a
tab and two more fields follow it, the old name and the new one.
"""

from __future__ import annotations

from collections.abc import Iterator

from pi_batch.results import ChangedFile, FileStatus
from pi_batch.workspaces.names import display, relative_to_workspace

_STATUS: dict[str, FileStatus] = {
    "A": "added",
    "C": "added",
    "M": "modified",
    "T": "modified",
    "D": "deleted",
    "R": "renamed",
}


def parse_changed_files(output: bytes, prefix: bytes) -> tuple[ChangedFile, ...]:
    """The files of a diff, by path as seen from the workspace at `prefix`."""
    fields = iter([field for field in output.split(b"\0") if field])
    statuses: dict[bytes, tuple[FileStatus, bytes | None]] = {}
    counts: dict[bytes, tuple[int | None, int | None]] = {}
    for field in fields:
        if field.startswith(b":"):
            path, status, old = _read_raw(field, fields)
            statuses[path] = (status, old)
        else:
            path, added, deleted = _read_counts(field, fields)
            counts[path] = (added, deleted)
    return tuple(
        _changed_file(path, statuses[path], counts.get(path, (None, None)), prefix)
        for path in sorted(statuses)
    )


def _read_raw(field: bytes, fields: Iterator[bytes]) -> tuple[bytes, FileStatus, bytes | None]:
    letter = chr(field.rsplit(b" ", 1)[1][0])
    path = next(fields)
    if letter in "RC":
        return next(fields), _STATUS[letter], path
    return path, _STATUS[letter], None


def _read_counts(field: bytes, fields: Iterator[bytes]) -> tuple[bytes, int | None, int | None]:
    added, deleted, path = field.split(b"\t", 2)
    if not path:
        next(fields)
        path = next(fields)
    return path, _count(added), _count(deleted)


def _count(number: bytes) -> int | None:
    return None if number == b"-" else int(number)


def _changed_file(
    path: bytes,
    status: tuple[FileStatus, bytes | None],
    counts: tuple[int | None, int | None],
    prefix: bytes,
) -> ChangedFile:
    kind, old = status
    return ChangedFile(
        path=display(relative_to_workspace(path, prefix)),
        status=kind,
        added=counts[0],
        deleted=counts[1],
        old_path=None if old is None or kind != "renamed" else display(relative_to_workspace(old, prefix)),
    )
