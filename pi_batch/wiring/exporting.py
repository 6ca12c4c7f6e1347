"""`pi-batch export` in other programs' formats: predictions and trajectories."""

from __future__ import annotations

from pathlib import Path

from pi_batch import __version__
from pi_batch.errors import UsageError
from pi_batch.reports.predictions import Prediction, predictions_json, predictions_lines
from pi_batch.reports.trajectory import Ending, exit_status, trajectory
from pi_batch.reports.write import write_report
from pi_batch.results import RunResult
from pi_batch.standard_streams import say, tell
from pi_batch.wiring.entrants import read_run, split_word
from pi_batch.wiring.reporting import SESSION, read_masked
from pi_batch.wiring.surroundings import Surroundings, utf8_streams
from pi_batch.wording import listed, printable

PREDICTIONS, TRAJECTORY = "swebench", "trajectory"
FORMATS = (PREDICTIONS, TRAJECTORY)


def export_predictions(word: str, file: Path | None, repeat: int) -> int:
    """A run's patches as predictions: into .json by instance, else as lines.

    Raises: UsageError, LogWriteError.
    """
    utf8_streams()
    run_dir, results = _results(word, repeat)
    found = [Prediction(one.task_id, one.model, _patch(run_dir, one)) for one in results]
    is_object = file is not None and file.suffix.lower() == ".json"
    text = predictions_json(found) if is_object else predictions_lines(found)
    _write(file, text)
    return 0


def export_trajectory(word: str, file: Path | None, repeat: int) -> int:
    """A session as one trajectory, or a run's as FILE/ID/ID.traj.json. Raises: UsageError, LogWriteError."""
    utf8_streams()
    if Path(word).is_file() and Path(word).suffix != ".json":
        _write(file, trajectory(read_masked(Path(word)), _ending_of(Path(word)), __version__))
        return 0
    if file is None or str(file) == "-":
        raise UsageError("--format trajectory: a run has many: name a directory for them")
    run_dir, results = _results(word, repeat)
    written = 0
    for one in results:
        path = _session(run_dir, one)
        if path is None:
            tell(f"pi-batch: {printable(one.key)}: has no session, so no trajectory")
            continue
        text = trajectory(read_masked(path), _ending(run_dir, one), __version__)
        write_report(file / one.task_id / f"{one.task_id}.traj.json", text.encode())
        written += 1
    say(f"{written} trajectories in {printable(str(file))}\n")
    return 0


def _results(word: str, repeat: int) -> tuple[Path, tuple[RunResult, ...]]:
    """One model's results of a run, one a task. Raises: UsageError."""
    path, model = split_word(word)
    batch = read_run(path)
    models = list(dict.fromkeys(one.model for one in batch.results))
    if model:
        models = [one for one in models if model in (one, one.rpartition("/")[2])] or [model]
    if len(models) > 1:
        shown = printable(str(path))
        raise UsageError(f"{shown}: has several models: say which, as {shown}:MODEL, of {listed(models)}")
    results = tuple(one for one in batch.results if one.model in models and one.repeat == repeat)
    if not results:
        raise UsageError(f"{printable(word)}: has no results of that model and repeat {repeat}")
    ids = [one.task_id for one in results]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise UsageError(f"{printable(word)}: task {twice!r} has results for several inputs: one is needed")
    lacking = len({one.task_id for one in batch.planned if one.model in models}) - len(results)
    if lacking > 0:
        tell(f"pi-batch: {lacking} planned tasks have no result and are left out")
    return (path if path.is_dir() else path.parent), results


def _ending_of(session: Path) -> Ending:
    """How the run ended that a session lies in the directory of; nothing where it lies alone."""
    run_dir = session.resolve().parent.parent.parent
    if not (run_dir / "run.json").is_file():
        return Ending()
    name = session.resolve().relative_to(run_dir).as_posix()
    results = (one for one in read_run(run_dir).results if one.session == name)
    return next((_ending(run_dir, one) for one in results), Ending())


def _ending(run_dir: Path, result: RunResult) -> Ending:
    status = exit_status(result.stop, result.error.kind if result.error else None)
    return Ending(result.task_id, status or result.outcome, _patch(run_dir, result))


def _session(run_dir: Path, result: RunResult) -> Path | None:
    found = SESSION.fullmatch(result.session or "")
    return _inside(run_dir, result.session) if found else None


def _patch(run_dir: Path, result: RunResult) -> str:
    """The patch without secret values of this environment; empty where nothing was changed."""
    path = _inside(run_dir, result.patch)
    if path is None:
        return ""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return Surroundings.of_process().masker(()).mask(text).encode("utf-8", "replace").decode()


def _inside(run_dir: Path, name: str | None) -> Path | None:
    """A file of the run; a run.json made elsewhere may name anything."""
    path = (run_dir / (name or "")).resolve()
    return path if name and path.is_relative_to(run_dir.resolve()) and path.is_file() else None


def _write(file: Path | None, text: str) -> None:
    if file is None or str(file) == "-":
        say(text)
    else:
        write_report(file, text.encode())
