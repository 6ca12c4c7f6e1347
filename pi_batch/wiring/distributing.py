"""Who carries a run's trials out, and what workers elsewhere are given."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

from pi_batch import executors
from pi_batch.claims import TRIALS, Claim
from pi_batch.errors import LogWriteError, UsageError
from pi_batch.event_log import read_log
from pi_batch.protocols import Executor, Trial
from pi_batch.spec import Plan
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.run_leg import LOG
from pi_batch.wiring.run_lock import is_held

MODULE = "pi_batch.wiring.trial"
"""What a worker starts for each trial."""


def check_executor(options: RunOptions, run_dir: Path, *, is_begun: bool) -> None:
    """See that a run is gone on with where its trials are. Raises: UsageError."""
    name = options.executor or "local"
    if (name == "dask") != (options.scheduler is not None):
        raise UsageError("--executor dask and --scheduler ADDRESS: give both, or none")
    is_spread = (run_dir / TRIALS).is_dir()
    if is_begun and is_spread and name == "local":
        raise UsageError(
            f"{run_dir}: its trials are on a cluster's workers: --executor dask --scheduler ADDRESS"
        )
    if is_begun and not is_spread and name != "local":
        raise UsageError(f"{run_dir}: was begun without --executor, and its trials are here: go on without")


def make_executor(options: RunOptions, plan: Plan, run_dir: Path) -> Executor:
    """The executor that the options name. Raises: LogWriteError."""
    made: Executor
    if options.scheduler is None:
        made = executors.load("local")()
        return made
    from pi_batch.executors.dask import Post

    run_dir = run_dir.resolve()
    _make(run_dir / TRIALS)
    post = Post(
        run_dir,
        partial(prepare_trial, run_dir),
        partial(_claim, options),
        lambda key: is_held(run_dir / TRIALS / key),
        seen_records(run_dir / LOG),
        MODULE,
    )
    jobs = plan.tasks[0].settings.get("jobs") if plan.tasks else None
    at_once = None if jobs is None or jobs.source == "default" else plan.max_parallel
    made = executors.load("dask")(options.scheduler, post, at_once=at_once)
    return made


def prepare_trial(run_dir: Path, key: str) -> Path:
    """Make a trial's own directory; its task's files lie where the run has them. Raises: LogWriteError."""
    trial_dir = run_dir / TRIALS / key
    _make(run_dir / "tasks")
    _make(trial_dir)
    link = trial_dir / "tasks"
    try:
        if not link.is_symlink():
            link.symlink_to("../../tasks")
    except OSError as error:
        raise LogWriteError(f"{link}: cannot be made: {error.strerror or error}") from error
    return trial_dir


def seen_records(log: Path) -> dict[str, Counter[tuple[str, str]]]:
    """What a run's own log has of each trial."""
    seen: dict[str, Counter[tuple[str, str]]] = {}
    for record in read_log(log) if log.is_file() else ():
        if record.key is not None:
            seen.setdefault(record.key, Counter())[record.at, record.event.type] += 1
    return seen


def _claim(options: RunOptions, trial: Trial, records: int) -> str:
    claim = Claim(
        trial.limit,
        records,
        rerun=options.rerun,
        is_reverify=options.is_reverify,
        is_forced=options.is_forced,
    )
    return claim.to_text()


def _make(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogWriteError(f"{path}: cannot be made: {error.strerror or error}") from error
