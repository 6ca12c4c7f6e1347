"""Where a run's files go: a directory that the project's git does not see."""

from __future__ import annotations

from pathlib import Path

from pi_batch.errors import LogWriteError, UsageError

HOME = ".pi-batch"
IGNORE_ALL = "*\n"


def make_run_dir(cwd: Path, run_id: str, output: Path | None, runs_dir: Path | None) -> Path:
    """The run's directory: `output`, else below `runs_dir`, else .pi-batch/runs/<run id>.

    A directory that is made here ignores itself, so that neither the user's `git status` nor the next run's
    snapshot holds it. One that holds a run with its plan.json is taken as it is: the run goes on.
    Raises: UsageError for one that holds a run without, LogWriteError.
    """
    run_dir = cwd / output if output is not None else (runs_dir or cwd / HOME / "runs") / run_id
    is_run = any((run_dir / name).exists() for name in ("run.json", "events.jsonl"))
    if output is not None and is_run and not (run_dir / "plan.json").is_file():
        raise UsageError(f"--output {output}: holds a run already, and no plan.json: name another directory")
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
