"""`pi-batch run` and `exec`: plan, run directory, sinks, signals, summary."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pi_batch.encoders import workflow_safe
from pi_batch.engine.batch import Batch, BatchParts
from pi_batch.errors import PiBatchError, UsageError
from pi_batch.protocols import Sink
from pi_batch.redact import Masker
from pi_batch.reports.json import result_json
from pi_batch.reports.masked import masked
from pi_batch.reports.table import Table
from pi_batch.reports.write import ReportWriter
from pi_batch.results import BatchResult
from pi_batch.sandboxes.ending import kill_all_below
from pi_batch.sinks.event_log import EventLog
from pi_batch.sinks.progress import Progress
from pi_batch.sinks.stream import EventStream
from pi_batch.spec import Plan
from pi_batch.standard_streams import say, tell
from pi_batch.wiring.actions import report_failure, report_to_runner
from pi_batch.wiring.models import ModelPool
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.planning import make_adhoc_plan, make_plan
from pi_batch.wiring.run_dir import make_run_dir, temp_dir
from pi_batch.wiring.sandboxing import SandboxChooser
from pi_batch.wiring.scripting import Scripting
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings, SystemClock, is_terminal, utf8_streams
from pi_batch.wiring.tasks import TaskMaker

SIGNAL_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def run(specs: Sequence[str], options: RunOptions) -> int:
    """Run specs; the exit code. Raises: PiBatchError when nothing could be run or not be logged."""
    utf8_streams()
    around = Surroundings.of_process()
    try:
        plan = make_plan(specs, options, around)
        run_dir, batch = run_plan(plan, options, around)
    except PiBatchError as error:
        report_failure(error, around)
        raise
    if not options.events:
        _print_table(batch, run_dir, around)
    report_to_runner(batch, run_dir, around, is_stdout_free=not options.events)
    return batch.exit_code


def run_prompt(prompt: str, options: RunOptions, output_format: str) -> int:
    """Run one prompt in the current directory; the exit code."""
    utf8_streams()
    around = Surroundings.of_process()
    plan = make_adhoc_plan(prompt, options, around)
    is_stream = output_format == "stream-json"
    run_dir, batch = run_plan(plan, options, around, is_stream=is_stream)
    (result,) = batch.results or (None,)
    if output_format == "json" and result is not None:
        say(f"{result_json(result)}\n")
    elif output_format == "text" and not options.events and result is not None:
        text = result.answer or f"({result.outcome}: {result.reason})"
        say(f"{workflow_safe(text) if around.is_github_actions else text}\n")
    if result is not None and result.outcome in ("failed", "error"):
        tell(f"pi-batch: {result.outcome}: {result.reason}")
    report_to_runner(batch, run_dir, around, is_stdout_free=False)
    return batch.exit_code


def run_plan(
    plan: Plan, options: RunOptions, around: Surroundings, *, is_stream: bool = False
) -> tuple[Path, BatchResult]:
    """Carry a plan out; the run directory and the result. Raises: PiBatchError when nothing could be run."""
    mask = around.masker(options.secrets)
    is_trusting = all(task.spec.trust == "trusted" for task in plan.tasks)
    settings = Settings(around, reads_file=is_trusting)
    models = ModelPool(around, settings, has_cost_limit=plan.budget.cost_usd is not None)
    models.check(plan.tasks)
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
    run_dir = make_run_dir(around.cwd, run_id, options.output, settings.output)
    clock = SystemClock()
    extra = {
        name: path
        for name, path in (
            ("junit", options.junit),
            ("json", options.json_file),
            ("markdown", options.markdown),
        )
        if path is not None
    }
    with temp_dir() as private_dir:
        batch: Batch

        def warn(key: str, text: str) -> None:
            batch.warn(key, text)

        sinks = tuple(_sinks(run_dir, options, around, mask, is_stream=is_stream or options.events))
        is_watched = any(sink.takes_live_only for sink in sinks)
        chooser = SandboxChooser.of(around, run_dir)
        scripting = Scripting()
        warnings = (*asyncio.run(chooser.prepare(plan.tasks)), *scripting.warnings(plan.tasks))
        maker = TaskMaker(
            around=around,
            run_dir=run_dir,
            temp_dir=private_dir,
            mask=mask,
            clock=clock,
            models=models,
            sandboxes=chooser,
            scripting=scripting,
            retry=settings.retry,
            warn=warn,
            is_watched=is_watched,
        )
        reports = ReportWriter(run_dir, clock, extra=extra, root=around.cwd, mask=mask)
        parts = BatchParts(
            run_id=run_id,
            plan=plan,
            open_task=maker.open,
            sinks=sinks,
            write_reports=reports.write,
            clock=clock,
            report_pause_s=reports.pause_s,
            warnings=warnings,
        )
        batch = Batch(parts)
        return run_dir, masked(asyncio.run(_until_done(batch, models, scripting)), mask)


async def _until_done(batch: Batch, models: ModelPool, scripting: Scripting) -> BatchResult:
    """Run; the first signal cancels, a second one ends the process at once."""
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def stop(number: signal.Signals) -> None:
        code = SIGNAL_CODES[number]
        if seen:
            kill_all_below()
            os._exit(code)
        seen.append(code)
        batch.cancel(code)

    for number in SIGNAL_CODES:
        loop.add_signal_handler(number, stop, number)
    try:
        return await batch.run()
    finally:
        await scripting.close()
        await models.close()
        for number in SIGNAL_CODES:
            loop.remove_signal_handler(number)


def _sinks(
    run_dir: Path, options: RunOptions, around: Surroundings, mask: Masker, *, is_stream: bool
) -> Iterator[Sink]:
    yield EventLog(run_dir / "events.jsonl", mask=mask)
    if is_stream and sys.stdout is None:
        raise UsageError("standard output is closed: events have nowhere to go")
    if is_stream:
        yield EventStream(sys.stdout.buffer, mask=mask)
    yield Progress(
        sys.stderr,
        SystemClock(),
        is_terminal=is_terminal(sys.stderr) and not around.is_ci,
        is_quiet=options.quiet,
        is_ci=around.is_ci,
        has_color=around.has_color,
        mask=mask,
    )


def _print_table(batch: BatchResult, run_dir: Path, around: Surroundings) -> None:
    shown = run_dir.relative_to(around.cwd) if run_dir.is_relative_to(around.cwd) else run_dir
    terminal = is_terminal(sys.stdout)
    table = Table(
        run_dir=str(shown),
        is_terminal=terminal,
        has_color=around.has_color,
        width=shutil.get_terminal_size((100, 24)).columns,
        is_github_actions=around.is_github_actions,
    )
    say(table.render(batch))
