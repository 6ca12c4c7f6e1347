"""Where a run's files go: a new directory that the project's git does not see, and a temporary one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pi_batch.errors import LogWriteError, UsageError
from pi_batch.standard_streams import tell
from pi_batch.workspaces.removal import remove_tree

HOME = ".pi-batch"
IGNORE_ALL = "*\n"


def make_run_dir(cwd: Path, run_id: str, output: Path | None, runs_dir: Path | None) -> Path:
    """The run's directory: `output`, else below `runs_dir`, else .pi-batch/runs/<run id>.

    A directory that is made here ignores itself, so that neither the user's `git status` nor the next run's
    snapshot holds it. Raises: UsageError for one that holds a run, LogWriteError.
    """
    run_dir = cwd / output if output is not None else (runs_dir or cwd / HOME / "runs") / run_id
    if output is not None and any((run_dir / name).exists() for name in ("run.json", "events.jsonl")):
        raise UsageError(f"--output {output}: holds a run already: name another directory")
    own = run_dir if output is not None else runs_dir or cwd / HOME
    try:
        is_ours = not own.exists() or own == cwd / HOME
        run_dir.mkdir(parents=True, exist_ok=output is not None)
        if is_ours and not (own / ".gitignore").exists():
            (own / ".gitignore").write_text(IGNORE_ALL, encoding="utf-8")
    except OSError as error:
        where = output or runs_dir or HOME
        raise LogWriteError(
            f"{where}: the run directory cannot be made: {error.strerror or error}; --output names another"
        ) from error
    return run_dir


@contextmanager
def temp_dir() -> Iterator[Path]:
    """A private directory outside every project, removed with all that is in it."""
    try:
        path = Path(tempfile.mkdtemp(prefix="pi-batch-")).resolve()
    except OSError as error:
        raise LogWriteError(f"no temporary directory: {error.strerror or error}") from error
    try:
        yield path
    finally:
        try:
            remove_tree(path)
        except OSError as error:
            tell(f"pi-batch: {path}: cannot be removed: {error.strerror or error}")
