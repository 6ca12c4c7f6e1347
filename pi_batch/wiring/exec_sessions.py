"""Sessions of `exec` to go on with: the newest of a directory, or a branch of any."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

from pi_batch.errors import UsageError
from pi_batch.files import write_atomic
from pi_batch.session import Header, active_branch, branch_to, encode_entry, encode_header, read_session
from pi_batch.times import iso_utc
from pi_batch.wiring.stored_plan import StoredPlan, read_plan

SESSION = Path("tasks", "exec", "session.jsonl")


def newest_exec(runs: Path, cwd: Path) -> Path:
    """The run directory of the newest `exec` in a directory. Raises: UsageError where there is none."""
    found = [path.parent.parent.parent for path in runs.glob(f"*/{SESSION}")]
    for run_dir in sorted(found, key=lambda path: (path / SESSION).stat().st_mtime, reverse=True):
        if is_exec_of(run_dir, cwd) is not None:
            return run_dir
    raise UsageError(f"-c: no session of exec in {cwd} to go on with (looked in {runs})")


def is_exec_of(run_dir: Path, cwd: Path) -> StoredPlan | None:
    """The plan of a run directory that holds an `exec` of a directory; None for any other."""
    try:
        stored = read_plan(run_dir)
    except UsageError:
        return None
    if stored is None or stored.origin.command != "exec" or Path(stored.cwd) != cwd:
        return None
    return stored


def split_fork(text: str, cwd: Path) -> tuple[Path, str]:
    """`SESSION[:ENTRY]` as a path and an entry's id, empty where none is named."""
    whole = cwd / text
    if whole.exists() or ":" not in text:
        return whole, ""
    path, _, entry = text.rpartition(":")
    return cwd / path, entry


def write_branch(session: Path, entry_id: str, target: Path, cwd: Path) -> None:
    """Write a session file of its own with everything up to an entry; its header names the parent.

    Raises: UsageError where there is no such session or entry, LogWriteError.
    """
    file = read_session(session)
    branch = branch_to(file, entry_id) if entry_id else active_branch(file)
    if not branch:
        raise UsageError(f"--fork {session}: holds no entry to go on from")
    header = Header(
        str(uuid.uuid4()), iso_utc(time.time()), str(cwd), fields={"parentSession": str(session.absolute())}
    )
    lines = [encode_header(header), *(encode_entry(entry) for entry in branch)]
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
