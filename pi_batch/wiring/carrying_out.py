"""A plan carried out: run directory, lock, what earlier legs left, sinks, signals."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from pi_batch.engine.batch import Batch, BatchParts
from pi_batch.errors import UsageError
from pi_batch.expected import Expected
from pi_batch.manifest import FILE, Manifest
from pi_batch.protocols import Executor, Sink
from pi_batch.redact import Masker
from pi_batch.reports.masked import masked
from pi_batch.reports.write import DIGESTS, ReportWriter
from pi_batch.results import BatchResult, BudgetAmounts
from pi_batch.sandboxes.ending import kill_all_below
from pi_batch.sinks.event_log import EventLog
from pi_batch.sinks.progress import Progress
from pi_batch.sinks.stream import EventStream
from pi_batch.spec import Plan
from pi_batch.standard_streams import tell
from pi_batch.wiring.caching import ReplyCache
from pi_batch.wiring.distributing import check_executor, make_executor
from pi_batch.wiring.exec_sessions import split_fork, write_branch
from pi_batch.wiring.gates import Gate
from pi_batch.wiring.memory import MemoryFile, Remembering, memory_held
from pi_batch.wiring.models import ModelPool
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.recorded import expected_from, newest_runs
from pi_batch.wiring.repositories import Repositories, secrets_of
from pi_batch.wiring.run_dir import make_run_dir
from pi_batch.wiring.run_leg import (
    LOG,
    Leg,
    check_plan,
    clear_up,
    first_work,
    has_kept,
    make_private,
    private_directory,
    work_left,
)
from pi_batch.wiring.run_lock import Holder, held
from pi_batch.wiring.sandboxing import SandboxChooser
from pi_batch.wiring.scripting import Scripting
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.sharding import save_manifest
from pi_batch.wiring.stored_plan import Origin, StoredPlan, Storing, read_plan, write_plan
from pi_batch.wiring.surroundings import Surroundings, SystemClock, is_terminal
from pi_batch.wiring.sweeping import note_run, sweep
from pi_batch.wiring.tasks import TaskMaker

SIGNAL_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}


class Nested(Struct, frozen=True):
    """A trial that is a run of its own within another one's directory."""

    main_dir: Path
    """Of the run that it belongs to."""
    limit: BudgetAmounts
    """What it may come to of that run's budget."""


class Call(Struct, frozen=True):
    """One call of the program that carries a plan out."""

    plan: Plan
    options: RunOptions
    around: Surroundings
    mask: Masker
    settings: Settings
    models: ModelPool
    origin: Origin | None
    is_stream: bool
    run_dir: Path
    run_id: str
    stored: StoredPlan | None
    """What an earlier leg stored; None in the first."""
    before: Holder
    """Who held the run directory."""
    manifest: Manifest | None = None
    """Of the plan that this one is a shard of."""
    nested: Nested | None = None
    memory: MemoryFile | None = None
    """What earlier nights came to."""

    @property
    def shown_dir(self) -> Path:
        """The run directory as a person types it."""
        cwd = self.around.cwd
        return self.run_dir.relative_to(cwd) if self.run_dir.is_relative_to(cwd) else self.run_dir


def run_plan(
    plan: Plan,
    options: RunOptions,
    around: Surroundings,
    *,
    origin: Origin | None = None,
    is_stream: bool = False,
    manifest: Manifest | None = None,
    nested: Nested | None = None,
) -> tuple[Path, BatchResult]:
    """Carry a plan out, or go on with it; the run directory and the result.

    A run without an origin cannot be resumed. Raises: PiBatchError when nothing could be run.
    """
    mask = around.masker(options.secrets, secrets_of(plan))
    is_trusting = all(task.spec.trust == "trusted" for task in plan.tasks)
    settings = Settings(around, reads_file=is_trusting)
    cache = ReplyCache(options, settings, mask)
    models = ModelPool(
        around, settings, has_cost_limit=_has_cost_limit(plan), cache=cache if cache.is_on else None
    )
    models.check(plan.tasks)
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
    run_dir = make_run_dir(around.cwd, run_id, options.output, settings.output)
    if options.executor not in (None, "local"):
        plan.need_one_process("--executor")
    is_run = nested is None and origin is not None and origin.command == "run"
    state = _state_dir(options, settings, around) if is_run else None
    if state is not None and state.resolve() == run_dir.resolve():
        raise UsageError(f"--state {state}: is the run directory: name another place, for all nights")
    with held(run_dir) as before, memory_held(state) as memory:
        stored = read_plan(run_dir)
        call = Call(
            plan,
            options,
            around,
            mask,
            settings,
            models,
            origin,
            is_stream or options.events,
            run_dir,
            run_id if stored is None else stored.run_id,
            stored,
            before,
            manifest,
            nested,
            memory,
        )
        check_executor(options, run_dir, is_begun=stored is not None)
        return run_dir, _carry_out(call)


def _state_dir(options: RunOptions, settings: Settings, around: Surroundings) -> Path | None:
    """Where is remembered what was tried. Raises: UsageError where others would have to be asked."""
    state = around.cwd / options.state if options.state else settings.state
    if state is not None and options.executor not in (None, "local"):
        raise UsageError(f"--state {state}: needs --executor local")
    return state


def _has_cost_limit(plan: Plan) -> bool:
    """True where tasks share a limit of money."""
    budgets = (plan.budget, *plan.group_budgets.values())
    return any(budget.cost_usd is not None for budget in budgets)


def _carry_out(call: Call) -> BatchResult:
    known = None if call.stored is None else Path(call.stored.state_dir)
    with ExitStack() as stack:
        parent = None if call.nested is None else call.run_dir  # where another machine finds it, too
        private_dir = stack.enter_context(private_directory(known, parent))
        log, leg = _open_leg(call, private_dir)
        make_private(private_dir)
        note_run(private_dir, call.run_dir)
        sweep(private_dir.parent)
        batch: Batch

        def warn(key: str, text: str) -> None:
            batch.warn(key, text)

        scripting = Scripting()
        executor = make_executor(call.options, call.plan, call.run_dir)
        batch = _make_batch(call, leg, log, warn=warn, scripting=scripting, executor=executor)
        result = masked(asyncio.run(_until_done(batch, call.models, scripting, executor)), call.mask)
        if call.origin is not None and (has_kept(private_dir) or result.status == "interrupted"):
            where = f" (workspaces are kept in {private_dir})" if has_kept(private_dir) else ""
            tell(f"pi-batch: to go on: pi-batch resume {call.shown_dir}{where}")
        return result


def _open_leg(call: Call, private_dir: Path) -> tuple[EventLog, Leg]:
    """The log at its end, and what there is to do. Raises: UsageError, LogWriteError."""
    plan, options, run_dir, stored = call.plan, call.options, call.run_dir, call.stored
    now = None
    if call.origin is not None:
        storing = Storing(call.run_id, call.around.cwd, call.origin, options, call.around.environ, call.mask)
        now = storing.of(plan, private_dir)
    is_changed = False
    if stored is not None and now is not None and not options.is_continued:
        is_changed = check_plan(run_dir, stored, now, options)
    if call.before.pid:
        clear_up(run_dir, call.before, [task.planned.key for task in plan.tasks])
    if stored is None and options.fork is not None:
        session, entry = split_fork(options.fork, call.around.cwd)
        write_branch(session, entry, run_dir / "tasks" / "exec" / "session.jsonl", call.around.cwd)
    work = first_work(plan, options) if stored is None else None
    if work is not None and call.manifest is not None:
        save_manifest(run_dir / FILE, call.manifest)
    if work is not None and now is not None:
        write_plan(run_dir, now)  # before the log: a log without a plan cannot be gone on with
    log = EventLog(run_dir / LOG, mask=call.mask)
    if work is None:
        work = work_left(run_dir, plan, private_dir, options, is_changed=is_changed)
        if now is not None:
            write_plan(run_dir, now)
    return log, Leg(run_dir, private_dir, work, work.earlier.fold.legs + 1)


def _make_batch(
    call: Call,
    leg: Leg,
    log: EventLog,
    *,
    warn: Callable[[str, str], None],
    scripting: Scripting,
    executor: Executor,
) -> Batch:
    options, around, clock = call.options, call.around, SystemClock()
    sinks = (
        log,
        *_remembering(call, leg),
        *_more_sinks(options, around, call.mask, is_stream=call.is_stream),
    )
    is_watched = any(sink.takes_live_only for sink in sinks)
    chooser = SandboxChooser.of(around, leg.run_dir if call.nested is None else call.nested.main_dir)
    warnings: tuple[str, ...] = ()
    if not executor.is_remote:
        warnings = _warnings(call, chooser, scripting)
    repositories = Repositories(around, call.settings.mirrors)
    gate = Gate(repositories, call.memory, clock, around.environ.get("PATH"), options.tries_again)
    maker = TaskMaker(
        around=around,
        leg=leg,
        mask=call.mask,
        clock=clock,
        models=call.models,
        sandboxes=chooser,
        scripting=scripting,
        retry=call.settings.retry,
        repositories=repositories,
        gate=gate,
        warn=warn,
        is_watched=is_watched,
    )
    wanted = {"junit": options.junit, "json": options.json_file, "markdown": options.markdown}
    extra = {name: path for name, path in wanted.items() if path is not None}
    if call.memory is not None:
        extra |= {name: leg.run_dir / file for name, file in DIGESTS.items()}
    reports = ReportWriter(leg.run_dir, clock, extra=extra, root=around.cwd, mask=call.mask)
    return Batch(
        BatchParts(
            run_id=call.run_id,
            plan=call.plan,
            open_task=maker.open,
            sinks=sinks,
            write_reports=reports.write,
            clock=clock,
            report_pause_s=reports.pause_s,
            warnings=(*log.warnings, *warnings, *_forgetful(call)),
            expected=_expected(call),
            executor=executor,
            limit=None if call.nested is None else call.nested.limit,
            work=leg.work,
        )
    )


def _remembering(call: Call, leg: Leg) -> Iterator[Sink]:
    if call.memory is not None:
        tasks = {task.planned.key: task for task in call.plan.tasks}
        yield Remembering(call.memory, leg.work.earlier.fold, tasks, call.run_id, call.mask)


def _forgetful(call: Call) -> Iterator[str]:
    """A warning where a condition looks at the last night, and nobody remembers it."""
    conditions = [task.spec.only_if for task in call.plan.tasks if task.spec.only_if is not None]
    if call.memory is None and any(one.days or (one.changed and not one.since) for one in conditions):
        yield "only_if asks for the last run, and without --state nothing is remembered: such tasks run"


def _expected(call: Call) -> Expected:
    """What the newest runs beside this one took; a plan that is run in its order needs none."""
    if min(call.plan.max_parallel, len(call.plan.tasks)) == 1 and call.options.executor is None:
        return Expected()
    return expected_from(newest_runs(call.run_dir.parent, besides=call.run_dir))


def _warnings(call: Call, chooser: SandboxChooser, scripting: Scripting) -> tuple[str, ...]:
    """What to say before the first task."""
    tasks = call.plan.tasks
    cache = ReplyCache(call.options, call.settings, call.mask)
    return (*asyncio.run(chooser.prepare(tasks)), *scripting.warnings(tasks), *cache.warnings(tasks))


async def _until_done(
    batch: Batch, models: ModelPool, scripting: Scripting, executor: Executor
) -> BatchResult:
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

    # What nohup ignores stays ignored.
    numbers = [number for number in SIGNAL_CODES if signal.getsignal(number) != signal.SIG_IGN]
    for number in numbers:
        loop.add_signal_handler(number, stop, number)
    try:
        batch.at_once = await executor.start()
        return await batch.run()
    finally:
        await executor.close()
        await scripting.close()
        await models.close()
        for number in numbers:
            loop.remove_signal_handler(number)


def _more_sinks(
    options: RunOptions, around: Surroundings, mask: Masker, *, is_stream: bool
) -> Iterator[Sink]:
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
        has_color=around.has_color(sys.stderr),
        mask=mask,
    )
