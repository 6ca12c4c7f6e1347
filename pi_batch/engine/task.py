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
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pi_batch.budget import Ledger
from pi_batch.engine.agent import Agent, AgentOutcome
from pi_batch.engine.legs import RESUMABLE_KINDS, Mode, TaskLeft
from pi_batch.engine.masking import Mask
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.restoring import RecordedConversation, read_conversation
from pi_batch.engine.retry import Requester, RetryPolicy
from pi_batch.engine.taking_up import (
    NOTE,
    NOTE_OF_A_BRANCH,
    catch_up,
    keep_machine,
    kept_machine,
    numbered_outputs,
    outcome_left,
)
from pi_batch.engine.tool_calls import Door, Emit, Rules
from pi_batch.engine.verification import Judge, JudgeParts, Verdict
from pi_batch.errors import PiBatchError, PolicyError
from pi_batch.events import TaskEnd, TaskStart, Warned, WorkspaceReady
from pi_batch.files import write_atomic
from pi_batch.harness import effective_protect
from pi_batch.messages import Message, ToolDeclaration
from pi_batch.outputs import MaskedOutput
from pi_batch.protocols import Changes, Clock, Sandbox, SandboxUse, Tool, Workspace
from pi_batch.results import BudgetAmounts, ChangedFile, RunError, SandboxReport
from pi_batch.script_fold import SCRIPT_TOOL
from pi_batch.session_log import SessionLog
from pi_batch.spec import BudgetSpec, PlannedTask, SuiteBudgetSpec
from pi_batch.times import iso_utc

log = logging.getLogger(__name__)

PATCH_NAMES = ("changes.patch", "changes.partial.patch")
"""Of a task that came to its end, and of one that did not."""


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
    bind_history: Callable[[Iterable[Message]], None] = lambda _messages: None
    """Tells tools that remember what was said before."""
    read_patch: Callable[[str], bytes] = lambda _name: b""
    """A patch of the run directory, by its name relative to run.json. Raises: WorkspaceError."""


@dataclass(frozen=True, slots=True)
class TaskBeginning:
    """Where a task is taken up."""

    mode: Mode = "begin"
    left: TaskLeft | None = None
    """What earlier legs left of it; None: nothing."""
    is_changed: bool = False
    """True when the spec is not the one that the conversation was begun with."""

    @property
    def has_conversation(self) -> bool:
        """True when there is something said to go on with."""
        return self.mode in ("go_on", "prompt")


def limits(budget: BudgetSpec | SuiteBudgetSpec) -> BudgetAmounts:
    """A spec's budget as amounts."""
    return BudgetAmounts(budget.turns, budget.tokens, budget.cost_usd, budget.wall_s, budget.tool_calls)


def task_start(task: PlannedTask, clock: Clock, mode: Mode = "begin") -> TaskStart:
    """The event that begins a task."""
    spec = task.spec
    has_checks = bool(spec.verify or spec.output.files or spec.output.schema_ is not None)
    is_rerun = mode in ("rerun", "prompt")
    return TaskStart(iso_utc(clock.time()), limits(spec.budget), task.settings, has_checks, is_rerun)


async def run_task(
    task: PlannedTask,
    open_parts: Callable[[PlannedTask], TaskParts],
    suite: Ledger,
    emit: Emit,
    clock: Clock,
    *,
    beginning: TaskBeginning | None = None,
) -> None:
    """Run one task to its `task_end`. Raises: asyncio.CancelledError, after the end is recorded."""
    beginning = beginning or TaskBeginning()
    run = _TaskRun(task, suite, emit, clock, beginning)
    started_s = clock.monotonic()
    emit(task_start(task, clock, beginning.mode))
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
    await run.leave()  # afterwards: an end that is not on the disk needs the workspace to be gone on with
    if cancelled is not None:
        raise cancelled


class _TaskRun:
    """The facts of one task while they come together."""

    _parts: TaskParts

    def __init__(
        self, task: PlannedTask, suite: Ledger, emit: Emit, clock: Clock, beginning: TaskBeginning
    ) -> None:
        self._spec = task.spec
        self._emit = emit
        self._clock = clock
        self._beginning = beginning
        self._ledger = Ledger(limits(self._spec.budget), clock, suite)
        if beginning.left is not None and beginning.mode not in ("rerun", "prompt"):
            self._ledger.carry(beginning.left.spent)
        self._conversation: RecordedConversation | None = None
        self._is_service_fault = False
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
        if self._beginning.mode == "go_on":
            judge.take_up(kept_machine(parts.state_dir))
        else:
            await judge.setup()
            keep_machine(parts.state_dir, judge.machine)
        if self._beginning.mode == "reverify":
            await self._judge_again(judge)
            return
        reason = await judge.precheck() if self._beginning.mode != "go_on" else None
        if reason is not None:
            self._skip_reason = reason
            return
        agent = self._make_agent()
        await self._attempts(agent, judge)
        for text in self._parts.port.warnings():
            self._emit(Warned(text))

    async def finish(self) -> None:
        """Write the patch and the answer, and empty the sandbox; never raises."""
        if self._is_open and not (self._is_judged_again and self._verdict is None):
            await self._keep_result()
        try:
            await self._stack.aclose()
        except (PiBatchError, OSError) as error:
            self._emit(Warned(f"cleaning up: {error}"))

    def end(self, duration_s: float) -> TaskEnd:
        """The task's last event."""
        changes, verdict, left = self._changes, self._verdict, self._beginning.left
        files: tuple[ChangedFile, ...] = changes.files if changes else ()
        touched = changes.protected_touched if changes else ()
        if self._is_judged_again and verdict is None and left is not None:  # the stored work is as it was
            files, touched = left.result.changed_files, left.result.protected_touched
            self._patch_name = left.result.patch
        return TaskEnd(
            duration_s=round(duration_s, 3),
            working_s=round(max(0.0, duration_s - self._waited_s), 3),
            used=self._ledger.used,
            skip_reason=self._skip_reason,
            is_starved=self._is_starved,
            error=self.error,
            changed_files=files,
            protected_touched=touched,
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
        scratch = parts.state_dir / "scratch"
        scratch.mkdir(exist_ok=True)
        self._stack.push_async_callback(asyncio.to_thread, shutil.rmtree, scratch, ignore_errors=True)
        sandbox = parts.make_sandbox(parts.workspace.path, str(scratch), "commands")
        self._stack.push_async_callback(sandbox.close)
        await sandbox.start()
        self._sandbox, self._scratch = sandbox, str(scratch)
        parts.bind_workspace(parts.workspace.path)
        self._open_session()
        self._emit_ready(sandbox)
        await self._check_start()
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

    def _open_session(self) -> None:
        """Hold the session file, and read what an earlier leg left in it."""
        parts, left = self._parts, self._beginning.left
        path = parts.task_dir / "session.jsonl"
        self._session = parts.open_session(path, parts.workspace.source)
        self._stack.callback(self._session.close)
        if self._beginning.has_conversation:
            self._conversation = read_conversation(path)
            if left is not None:
                catch_up(left, self._conversation, self._ledger, self._emit, parts.port)
        self._session.append_custom(
            "pi-batch",
            {"kind": "workspace", "workspace": parts.workspace.path, "key": parts.planned.planned.key},
        )

    async def _check_start(self) -> None:
        """See that stored work is taken up where it began, and bring it there. Raises: WorkspaceError."""
        workspace, beginning = self._parts.workspace, self._beginning
        recorded = beginning.left.result.start_commit if beginning.left is not None else None
        if beginning.mode == "go_on" and recorded is not None and workspace.start_commit != recorded:
            self._emit(
                Warned(
                    "the start of the interrupted work was not kept: the patch has what changes from now on"
                )
            )
        if beginning.mode != "reverify" or workspace.isolation == "none" or beginning.left is None:
            return
        if workspace.start_commit != recorded:
            self._emit(Warned("the stored work is judged on the files as they are now: it began on others"))
        if beginning.left.result.patch:
            await workspace.apply(self._parts.read_patch(beginning.left.result.patch))

    async def leave(self) -> None:
        """Remove the workspace, unless the task can go on in it; never raises."""
        if not self._is_open:
            return
        is_resumable = self._is_service_fault or (
            self.error is not None and self.error.kind in RESUMABLE_KINDS and not self._is_judged_again
        )
        try:
            await self._parts.workspace.close(keep=self._parts.keep_workspace or is_resumable)
        except (PiBatchError, OSError) as error:
            self._emit(Warned(f"cleaning up: {error}"))

    @property
    def _is_judged_again(self) -> bool:
        return self._beginning.mode == "reverify"

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
            outputs=numbered_outputs(outputs),
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
        return self._opened(door, requester)

    def _opened(self, door: Door, requester: Requester) -> Agent:
        """The agent, at its beginning or where an earlier leg ended."""
        parts, left, said = self._parts, self._beginning.left, self._conversation
        system, declarations = None, parts.declarations
        is_same = self._beginning.mode == "go_on" and not self._beginning.is_changed
        if said is not None and is_same:  # a prefix that stays as it is is read from the service's cache
            system, declarations = said.system, said.declarations
        if system is None:
            system = parts.mask.mask(parts.system_prompt(parts.workspace.path))
        agent = Agent(
            door=door, requester=requester, session=self._session, system=system, declarations=declarations
        )
        agent.open(said)
        if said is not None:
            parts.bind_history(message for _, message in said.recorded)
            note = NOTE if self._beginning.mode == "go_on" else NOTE_OF_A_BRANCH
            agent.restore(
                said,
                note.format(workspace=parts.workspace.path) if said.has_calls else "",
                left.ended_calls if left is not None else (),
                left.warned if left is not None and self._beginning.mode == "go_on" else (),
            )
        return agent

    def _count_wait(self, seconds: float) -> None:
        self._waited_s += seconds

    # --- work and judgement ---

    async def _attempts(self, agent: Agent, judge: Judge) -> None:
        prompt: str | None = self._spec.prompt
        first, known = 1, None
        left, said = self._beginning.left, self._conversation
        if said is not None and self._beginning.mode == "go_on":
            prompt = None
            first = min(max(said.attempt, 1), self._spec.attempts.verify)
            known = outcome_left(left, said) if left is not None else None
        for attempt in range(first, self._spec.attempts.verify + 1):
            outcome = known or await agent.run(prompt, attempt)
            known = None
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

    async def _judge_again(self, judge: Judge) -> None:
        """Judge the stored work; no request is made."""
        left = self._beginning.left
        if left is None:
            return
        self._answer = left.result.answer
        self._verdict = await judge.judge(max(left.result.attempts, 1), left.result.answer)
        self._changes, self.error = self._verdict.changes, self._verdict.error

    def _may_be_judged(self, outcome: AgentOutcome) -> bool:
        """False when the service failed, or when the suite's budget let no reply be made at all."""
        if outcome.is_service_fault:
            self.error, self._is_service_fault = outcome.error, True
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
        name = PATCH_NAMES[0 if self.error is None else 1]
        for other in {*PATCH_NAMES} - {name}:
            (self._parts.task_dir / other).unlink(missing_ok=True)
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
