"""What killed runs left where temporary files go: removed by the next run, unless it can be gone on with."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from pi_batch.errors import PiBatchError
from pi_batch.wiring.run_leg import PREFIX, has_kept, may_be_private
from pi_batch.wiring.run_lock import is_held
from pi_batch.wiring.stored_plan import read_plan
from pi_batch.workspaces.removal import remove_tree

NOTE = ".run"
"""In a private directory: the run directory that it belongs to."""
PROBE_PREFIX = f"{PREFIX}probe-"
PROBE_S = 3600.0
"""After this, a trial of a sandbox is none any more."""


def note_run(private_dir: Path, run_dir: Path) -> None:
    """Write down whose a private directory is; without the note nothing is ever swept."""
    with contextlib.suppress(OSError):
        (private_dir / NOTE).write_text(str(run_dir), encoding="utf-8", errors="surrogateescape")


def sweep(temporary: Path) -> int:
    """Remove private directories that no run needs; how many. Never raises."""
    removed = 0
    try:
        with os.scandir(temporary) as entries:
            found = [Path(entry.path) for entry in entries if entry.name.startswith(PREFIX)]
    except OSError:
        return 0
    for path in found:
        if _is_abandoned(path):
            with contextlib.suppress(OSError):
                remove_tree(path)
                removed += 1
    return removed


def _is_abandoned(path: Path) -> bool:
    """True for a directory of ours that nobody works in and nobody can go on in."""
    if not may_be_private(path):
        return False
    try:
        if path.name.startswith(PROBE_PREFIX):
            return time.time() - path.stat().st_mtime > PROBE_S
        run_dir = Path((path / NOTE).read_text(encoding="utf-8", errors="surrogateescape"))
        if is_held(run_dir):
            return False
        stored = read_plan(run_dir)
    except FileNotFoundError:
        return False
    except (OSError, PiBatchError):
        return False
    return stored is None or Path(stored.state_dir) != path or not has_kept(path)
