"""What the agent started from, as a value and as a file: a resumed run takes the same workspace up."""

from __future__ import annotations

import json
import os
from pathlib import Path

from msgspec import Struct, structs

from pi_batch.errors import LogWriteError, WorkspaceError
from pi_batch.files import write_atomic

_FILE = "workspace.json"
_VERSION = 1


class Start(Struct, frozen=True):
    """The start of one workspace. Strings may hold surrogates: paths are any bytes."""

    isolation: str
    source: str
    """The user's directory, absolute and real."""
    source_root: str
    """What `root` corresponds to at the user's."""
    path: str
    """The agent's directory."""
    root: str
    """What patches are relative to: the repository's top, or the directory itself."""
    object_format: str
    base_commit: str | None
    commit: str
    tree: str
    has_repository: bool = False
    """Whether clean copies get a `.git`, as the agent's directory has one."""
    index_commit: str | None = None
    """What the index of clean copies shows, so that `git status` says there what it says here."""
    trusts_exec_bit: bool = True
    keeps_by_products: bool = False
    """True: files of the start that are by-products of tools stay as at the start, in every patch."""
    excluded: tuple[str, ...] = ()
    """Directories under root that belong to the run, not to the work."""
    ignored: tuple[str, ...] = ()
    """What was ignored at the start (directories with a slash); stays out whatever .gitignore says later."""
    empty_directories: tuple[str, ...] = ()
    """For clean copies; git knows none."""

    @property
    def prefix(self) -> bytes:
        """The workspace's path in the root: empty, or ending in a slash."""
        inside = os.path.relpath(self.path, self.root)
        return b"" if inside == "." else os.fsencode(inside) + b"/"


def save_start(state_dir: Path, start: Start) -> None:
    """Write the file, last of all: a workspace whose making was cut short has none.

    Raises: WorkspaceError.
    """
    record = {"version": _VERSION, **structs.asdict(start)}
    try:
        write_atomic(state_dir / _FILE, json.dumps(record).encode("ascii"))
    except LogWriteError as error:
        raise WorkspaceError(str(error)) from error


def load_start(state_dir: Path, isolation: str, source: str) -> Start | None:
    """Read the file; None when there is none.

    Raises: WorkspaceError when it is of another workspace or version.
    """
    file = state_dir / _FILE
    try:
        record = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise WorkspaceError(f"{file}: cannot be read: {error}") from error
    if not isinstance(record, dict) or record.pop("version", None) != _VERSION:
        raise WorkspaceError(f"{file}: was written by another version of pi-batch")
    lists = {key: tuple(value) for key, value in record.items() if isinstance(value, list)}
    try:
        start = Start(**{**record, **lists})
    except TypeError as error:
        raise WorkspaceError(f"{file}: was written by another version of pi-batch") from error
    if (start.isolation, start.source) != (isolation, source):
        raise WorkspaceError(
            f"{file}: is the workspace of {start.source!r} ({start.isolation}), not of {source!r}"
        )
    return start


def forget_start(state_dir: Path) -> None:
    """Remove the file. Raises: OSError."""
    (state_dir / _FILE).unlink(missing_ok=True)
