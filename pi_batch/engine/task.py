"""One task from its workspace to its end: set up, precheck, work, judge, and again while attempts are left.

Whatever happens, exactly one `task_end` is emitted, the patch is on disk, the sandbox is empty and the
copies are gone. This module holds the one broad `except`: a defect of ours is an error of this task only.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import shutil
import traceback
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pi_batch.budget import Ledger
from pi_batch.engine.agent import Agent, AgentOutcome
from pi_batch.engine.masking import Mask
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.retry import Requester, RetryPolicy
from pi_batch.engine.tool_calls import Door, Emit, Rules
from pi_batch.engine.verification import Judge, JudgeParts, Verdict
from pi_batch.errors import PiBatchError, PolicyError
from pi_batch.events import TaskEnd, TaskStart, Warned, WorkspaceReady
from pi_batch.files import write_atomic
from pi_batch.harness import effective_protect
from pi_batch.messages import ToolDeclaration
from pi_batch.outputs import MaskedOutput
from pi_batch.protocols import Changes, Clock, Sandbox, SandboxUse, Tool, Workspace
from pi_batch.results import BudgetAmounts, ChangedFile, RunError, SandboxReport
from pi_batch.script_fold import SCRIPT_TOOL
from pi_batch.session_log import SessionLog
from pi_batch.spec import BudgetSpec, PlannedTask, SuiteBudgetSpec
from pi_batch.times import iso_utc

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaskParts:
    """What one task is made of; `wiring` fills it, nothing is started yet."""

    planned: PlannedTask
    workspace: Workspace
    make_sandbox: Callable[[str, str, SandboxUse], Sandbox]
    """A fresh sandbox around a directory and a scratch directory: for the task, and for each clean copy."""
    port: ModelPort
    bind_workspace: Callable[[str], None]
    """Tells a recording where the workspace is now."""
    tools: Mapping[str, Tool]
    declarations: tuple[ToolDeclaration, ...]
    script_only: frozenset[str]
    """Tools that are not declared, for scripts alone."""
    parse: Callable[[Tool, Mapping[str, Any]], Any]
    make_rules: Callable[[str], Rules]
    """The permissions, for a workspace path."""
    mask: Mask
    make_env: Callable[[str], Mapping[str, str]]
    """The children's environment, for a scratch directory."""
    make_judge: Callable[[JudgeParts], Judge]
    open_session: Callable[[Path, str], SessionLog]
    """(file, the user's directory) -> the session log."""
    system_prompt: Callable[[str], str]
    """The system prompt, for a workspace path."""
    task_dir: Path
    """tasks/<key> in the run directory; exists."""
    task_dir_name: str
    """The same, relative to run.json."""
    state_dir: Path
    """Private and temporary, outside the user's tree; removed with the workspace."""
    keep_workspace: bool = False
    is_watched: bool = True
    """Whether any sink takes live-only events."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)


def limits(budget: BudgetSpec | SuiteBudgetSpec) -> BudgetAmounts:
    """A spec's budget as amounts."""
    return BudgetAmounts(budget.turns, budget.tokens, budget.cost_usd, budget.wall_s, budget.tool_calls)


def task_start(task: PlannedTask, clock: Clock) -> TaskStart:
    """The event that begins a task."""
    spec = task.spec
    has_checks = bool(spec.verify or spec.output.files or spec.output.schema_ is not None)
    return TaskStart(iso_utc(clock.time()), limits(spec.budget), task.settings, has_checks)


async def run_task(
    task: PlannedTask, open_parts: Callable[[PlannedTask], TaskParts], suite: Ledger, emit: Emit, clock: Clock
) -> None:
    """Run one task to its `task_end`. Raises: asyncio.CancelledError, after the end is recorded."""
    run = _TaskRun(task, suite, emit, clock)
    started_s = clock.monotonic()
    emit(task_start(task, clock))
    cancelled: asyncio.CancelledError | None = None
    try:
        await run.go(open_parts(task))
    except asyncio.CancelledError as error:
        cancelled = error
        run.error = RunError("cancelled", "cancelled while it ran")
    except PiBatchError as error:
        run.error = RunError(error.kind, str(error))
    except Exception as error:  # noqa: BLE001 -- the one broad except: no defect ends the other tasks
        run.error = RunError("internal", f"{type(error).__name__}: {error}")
        run.record_defect(error)
    await run.finish()
    emit(run.end(clock.monotonic() - started_s))
    if cancelled is not None:
        raise cancelled


class _TaskRun:
    """The facts of one task while they come together."""

    _parts: TaskParts

    def __init__(self, task: PlannedTask, suite: Ledger, emit: Emit, clock: Clock) -> None:
        self._spec = task.spec
        self._emit = emit
        self._clock = clock
        self._ledger = Ledger(limits(self._spec.budget), clock, suite)
        self._stack = AsyncExitStack()
        self._waited_s = 0.0
        self._changes: Changes | None = None
        self._verdict: Verdict | None = None
        self._answer: str | None = None
        self._patch_name: str | None = None
        self._is_open = False
        self._is_starved = False
        self._skip_reason: str | None = None
        self.error: RunError | None = None

    async def go(self, parts: TaskParts) -> None:
        """Everything up to the verdict."""
        self._parts = parts
        judge = await self._open()
        await judge.setup()
        reason = await judge.precheck()
        if reason is not None:
            self._skip_reason = reason
            return
        agent = self._make_agent()
        await self._attempts(agent, judge)
        for text in self._parts.port.warnings():
            self._emit(Warned(text))

    async def finish(self) -> None:
        """Write the patch and the answer, empty the sandbox, remove the copies; never raises."""
        if self._is_open:
            await self._keep_result()
        try:
            await self._stack.aclose()
        except (PiBatchError, OSError) as error:
            self._emit(Warned(f"cleaning up: {error}"))

    def end(self, duration_s: float) -> TaskEnd:
        """The task's last event."""
        changes, verdict = self._changes, self._verdict
        files: tuple[ChangedFile, ...] = changes.files if changes else ()
        return TaskEnd(
            duration_s=round(duration_s, 3),
            working_s=round(max(0.0, duration_s - self._waited_s), 3),
            used=self._ledger.used,
            skip_reason=self._skip_reason,
            is_starved=self._is_starved,
            error=self.error,
            changed_files=files,
            protected_touched=changes.protected_touched if changes else (),
            patch=self._patch_name,
            structured_output=verdict.structured_output if verdict else None,
        )

    def record_defect(self, error: Exception) -> None:
        """Keep the traceback for whoever mends the defect: in a file, never on a terminal."""
        text = "".join(traceback.format_exception(error))
        log.debug("internal error", exc_info=error)
        if self._is_open:
            with suppress(OSError):
                path = self._parts.task_dir / "internal-error.log"
                path.write_text(self._parts.mask.mask(text), encoding="utf-8", errors="replace")

    # --- before the agent ---

    async def _open(self) -> Judge:
        parts, spec = self._parts, self._spec
        for text in await parts.workspace.open():
            self._emit(Warned(text))
        self._is_open = True
        self._stack.push_async_callback(parts.workspace.close, keep=parts.keep_workspace)
        scratch = parts.state_dir / "scratch"
        scratch.mkdir(exist_ok=True)
        self._stack.push_async_callback(asyncio.to_thread, shutil.rmtree, scratch, ignore_errors=True)
        sandbox = parts.make_sandbox(parts.workspace.path, str(scratch), "commands")
        self._stack.push_async_callback(sandbox.close)
        await sandbox.start()
        self._sandbox, self._scratch = sandbox, str(scratch)
        parts.bind_workspace(parts.workspace.path)
        self._session = parts.open_session(parts.task_dir / "session.jsonl", parts.workspace.source)
        self._stack.callback(self._session.close)
        self._session.append_custom(
            "pi-batch",
            {"kind": "workspace", "workspace": parts.workspace.path, "key": parts.planned.planned.key},
        )
        self._emit_ready(sandbox)
        return parts.make_judge(
            JudgeParts(
                spec=spec,
                workspace=parts.workspace,
                sandbox=sandbox,
                make_sandbox=parts.make_sandbox,
                make_env=parts.make_env,
                scratch=scratch,
                emit=self._emit,
                clock=self._clock,
                mask=parts.mask,
                log_dir=parts.task_dir,
                log_prefix=parts.task_dir_name,
            )
        )

    def _emit_ready(self, sandbox: Sandbox) -> None:
        workspace = self._parts.workspace
        self._emit(
            WorkspaceReady(
                workspace.path,
                workspace.source,
                workspace.base_commit,
                workspace.start_commit,
                SandboxReport(sandbox.name, sandbox.layers),
                f"{self._parts.task_dir_name}/session.jsonl",
            )
        )

    def _make_agent(self) -> Agent:
        parts = self._parts
        outputs = parts.task_dir / "outputs"
        door = Door(
            tools=parts.tools,
            parse=parts.parse,
            script_tool=SCRIPT_TOOL,
            script_only=parts.script_only,
            rules=parts.make_rules(parts.workspace.path),
            sandbox=self._sandbox,
            workspace=parts.workspace.path,
            outputs_dir=str(outputs.resolve()),
            open_output=lambda name: MaskedOutput(outputs.resolve() / name, parts.mask.stream()),
            env=parts.make_env(self._scratch),
            scratch=self._scratch,
            ledger=self._ledger,
            mask=parts.mask,
            emit=self._emit,
            clock=self._clock,
        )
        requester = Requester(
            port=parts.port,
            ledger=self._ledger,
            emit=self._emit,
            clock=self._clock,
            mask=parts.mask,
            random=random.Random(parts.planned.planned.key),  # noqa: S311 -- jitter, not secrets
            policy=parts.retry,
            on_wait=self._count_wait,
            is_watched=parts.is_watched,
        )
        agent = Agent(
            door=door,
            requester=requester,
            session=self._session,
            system=parts.mask.mask(parts.system_prompt(parts.workspace.path)),
            declarations=parts.declarations,
        )
        agent.open()
        return agent

    def _count_wait(self, seconds: float) -> None:
        self._waited_s += seconds

    # --- work and judgement ---

    async def _attempts(self, agent: Agent, judge: Judge) -> None:
        prompt = self._spec.prompt
        for attempt in range(1, self._spec.attempts.verify + 1):
            outcome = await agent.run(prompt, attempt)
            self._answer = outcome.answer
            if not self._may_be_judged(outcome):
                return
            verdict = await judge.judge(attempt, outcome.answer)
            self._verdict, self._changes = verdict, verdict.changes
            if verdict.error is not None:
                self.error = verdict.error
            if verdict.passed or verdict.error or not _may_go_on(outcome):
                return
            prompt = verdict.feedback

    def _may_be_judged(self, outcome: AgentOutcome) -> bool:
        """False when the service failed, or when the suite's budget let no reply be made at all."""
        if outcome.is_service_fault:
            self.error = outcome.error
        elif outcome.is_starved and self._ledger.turns == 0:
            self._is_starved = True
            self._skip_reason = "no request made: the suite's budget is used up"
        else:
            return True
        return False

    async def _keep_result(self) -> None:
        """The patch and the answer; what can't be had is said."""
        try:
            if self._changes is None:
                self._changes = await self._parts.workspace.changes(effective_protect(self._spec))
            self._write_patch()
            self._write_answer()
        except (PiBatchError, OSError) as error:
            if self.error is None:
                kind = error.kind if isinstance(error, PiBatchError) else "internal"
                self.error = RunError(kind, str(error))
            else:
                self._emit(Warned(str(error)))

    def _write_patch(self) -> None:
        if self._changes is None or not self._changes.patch:
            return
        if self._parts.mask.mask_bytes(self._changes.patch) != self._changes.patch:
            raise PolicyError("the patch holds a secret value: it is withheld")
        name = "changes.patch" if self.error is None else "changes.partial.patch"
        write_atomic(self._parts.task_dir / name, self._changes.patch)
        self._patch_name = f"{self._parts.task_dir_name}/{name}"

    def _write_answer(self) -> None:
        if self._verdict is not None and self._verdict.structured_output is not None:
            text = json.dumps(self._verdict.structured_output, ensure_ascii=False, indent=2) + "\n"
            write_atomic(self._parts.task_dir / "answer.json", text.encode("utf-8", "replace"))
        elif self._answer:
            write_atomic(self._parts.task_dir / "answer.md", (self._answer + "\n").encode("utf-8", "replace"))


def _may_go_on(outcome: AgentOutcome) -> bool:
    """True when another attempt makes sense: no limit ended this one, and it did not go round in circles."""
    return outcome.stop in ("completed", "model_error")
