"""`pi-batch run`, `resume` and `exec`: a plan, and what is said of its result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from pi_batch.encoders import json_safe, workflow_safe
from pi_batch.errors import PiBatchError, UsageError
from pi_batch.reports.json import result_json
from pi_batch.results import BatchResult
from pi_batch.spec import Plan
from pi_batch.standard_streams import say, tell
from pi_batch.wiring.actions import report_failure, report_to_runner
from pi_batch.wiring.carrying_out import run_plan
from pi_batch.wiring.exec_sessions import SESSION, is_exec_of, newest_exec
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.planning import make_adhoc_plan, make_plan
from pi_batch.wiring.run_dir import HOME
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.sharding import part_of
from pi_batch.wiring.showing import print_table
from pi_batch.wiring.stored_plan import PLAN_VARIABLES, Origin, StoredPlan, read_plan
from pi_batch.wiring.surroundings import Surroundings, utf8_streams


def run(specs: Sequence[str], options: RunOptions) -> int:
    """Run specs; the exit code. Raises: PiBatchError when nothing could be run or not be logged."""
    utf8_streams()
    around = Surroundings.of_process()
    try:
        run_dir = None if options.output is None else around.cwd / options.output
        part = part_of(make_plan(specs, options, around), options, around.cwd, run_dir=run_dir)
        origin = Origin("run", tuple(specs))
        run_dir, batch = run_plan(part.plan, options, around, origin=origin, manifest=part.manifest)
    except PiBatchError as error:
        report_failure(error, around)
        raise
    return _told(run_dir, batch, options, around)


def resume(run_dir: Path, options: RunOptions) -> int:
    """Go on with a run; the exit code. Raises: PiBatchError when nothing could be run or not be logged."""
    utf8_streams()
    around = Surroundings.of_process()
    try:
        stored = read_plan(run_dir)
        if stored is None:
            raise UsageError(f"{run_dir}: no plan.json there: name the directory of a run")
        place = there(around, run_dir, stored)
        names = (*(name for name in stored.secrets if name in around.environ), *options.secrets)
        options = replace(options, output=Path.cwd() / run_dir, secrets=names)
        options = stored.with_plan_options(options)
        part = part_of(plan_again(stored, options, place), options, place.cwd, run_dir=options.output)
        _, batch = run_plan(part.plan, options, place, origin=stored.origin)
    except PiBatchError as error:
        report_failure(error, around)
        raise
    return _told(run_dir, batch, options, around)


def run_prompt(prompt: str, options: RunOptions, output_format: str) -> int:
    """Run one prompt in the current directory; the exit code."""
    utf8_streams()
    around = Surroundings.of_process()
    options = _in_session(options, around)
    plan = make_adhoc_plan(prompt, options, around)
    is_stream = output_format == "stream-json"
    origin = Origin("exec", (prompt,))
    run_dir, batch = run_plan(plan, options, around, origin=origin, is_stream=is_stream)
    (result,) = batch.results or (None,)
    if output_format == "json" and result is not None:
        say(f"{json_safe(result_json(result))}\n")
    elif output_format == "text" and not options.events and result is not None:
        text = result.answer or f"({result.outcome}: {result.reason})"
        say(f"{workflow_safe(text) if around.is_ci else text}\n")
    if result is not None and result.outcome in ("failed", "error"):
        tell(f"pi-batch: {result.outcome}: {result.reason}")
    report_to_runner(batch, run_dir, around, is_stdout_free=False)
    return batch.exit_code


def there(around: Surroundings, run_dir: Path, stored: StoredPlan) -> Surroundings:
    """Where and how the run was begun. Raises: UsageError where that cannot be had again."""
    if stored.is_masked:
        raise UsageError(
            f"{run_dir}: its command line held a secret value, which is not kept: "
            "give the same command again, with --output"
        )
    if not Path(stored.cwd).is_dir():
        raise UsageError(f"{run_dir}: was begun in {stored.cwd}, and that is gone")
    variables = {name: stored.environ.get(name, "") for name in PLAN_VARIABLES}
    return around.at(Path(stored.cwd), {**stored.environ, **variables})


def plan_again(stored: StoredPlan, options: RunOptions, around: Surroundings) -> Plan:
    """The plan as the same command line makes it today. Raises: SpecError, UsageError, EmptySelection."""
    words = stored.origin.words
    if stored.origin.command == "exec":
        return make_adhoc_plan(words[0], options, around)
    return make_plan(words, options, around)


def _in_session(options: RunOptions, around: Surroundings) -> RunOptions:
    """`-c` as the run directory to go on in, or as a branch of it into another one. Raises: UsageError."""
    if not options.is_continued:
        return options
    if options.fork is not None:
        raise UsageError("-c and --fork: give one of them")
    own = None if options.output is None else around.cwd / options.output
    found = own if own is not None and (own / "plan.json").is_file() else None
    if found is None:
        found = newest_exec(Settings(around).output or around.cwd / HOME / "runs", around.cwd)
    stored = is_exec_of(found, around.cwd)
    if stored is None:
        raise UsageError(f"-c: {found} holds no session of exec in {around.cwd}")
    options = replace(options, models=options.models or (stored.tasks[0].model,))
    if own is None or own == found:
        return replace(options, output=found)
    return replace(options, is_continued=False, fork=str(found / SESSION))


def _told(run_dir: Path, batch: BatchResult, options: RunOptions, around: Surroundings) -> int:
    """Say what became of a run; its exit code."""
    if not options.events:
        print_table(batch, run_dir, around)
    report_to_runner(batch, run_dir, around, is_stdout_free=not options.events)
    return batch.exit_code
