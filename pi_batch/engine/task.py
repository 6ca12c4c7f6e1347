"""One task from its workspace to its end: set up, precheck, work, judge, and again while attempts are left.

Whatever happens, exactly one `task_end` is emitted, the patch is on disk, the sandbox is empty and the
copies are gone. This module holds the one broad `except`: a defect of ours is an error of this task only.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import traceback
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

from pi_batch.budget import Ledger
from pi_batch.engine.agent import Agent
from pi_batch.engine.agent_outcome import AgentOutcome
from pi_batch.engine.legs import RESUMABLE_KINDS
from pi_batch.engine.restoring import RecordedConversation, read_conversation
from pi_batch.engine.taking_up import catch_up, keep_machine, kept_machine, outcome_left
from pi_batch.engine.task_agent import AgentSurroundings, make_agent
from pi_batch.engine.task_files import write_answer, write_patch
from pi_batch.engine.task_parts import TaskBeginning, TaskParts, limits, task_start
from pi_batch.engine.tool_calls import Emit
from pi_batch.engine.verification import Judge, JudgeParts, Verdict
from pi_batch.errors import PiBatchError, PolicyError
from pi_batch.events import TaskEnd, Warned, WorkspaceReady
from pi_batch.harness import effective_protect
from pi_batch.protocols import Changes, Clock, Sandbox
from pi_batch.results import ChangedFile, RunError, SandboxReport, Skip
from pi_batch.routes import attempts_of
from pi_batch.spec import PlannedTask

log = logging.getLogger(__name__)


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
        self._shared = "the repository's or the suite's" if task.group else "the suite's"
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
        self._is_withheld = False
        self._patch_name: str | None = None
        self._is_open = False
        self._is_starved = False
        self._skip: Skip | None = None
        self.error: RunError | None = None

    async def go(self, parts: TaskParts) -> None:
        """Everything up to the verdict."""
        self._parts, mode = parts, self._beginning.mode
        self._skip = await parts.gate() if mode == "begin" else None
        if self._skip is not None:
            return
        judge = await self._open()
        if mode == "begin" and (reason := await judge.only_if()) is not None:
            self._skip = Skip("only_if", reason)
            return
        if mode == "go_on":
            judge.take_up(kept_machine(parts.state_dir))
        else:
            await judge.setup()
            keep_machine(parts.state_dir, judge.machine)
        if mode == "reverify":
            await self._judge_again(judge)
            return
        reason = await judge.precheck() if mode != "go_on" else None
        if reason is not None:
            self._skip = Skip("precheck", reason)
            return
        agent = make_agent(
            parts,
            self._beginning,
            AgentSurroundings(
                self._sandbox,
                self._scratch,
                self._session,
                self._conversation,
                self._ledger,
                self._emit,
                self._clock,
                self._count_wait,
            ),
        )
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
            skip_reason=self._skip.reason if self._skip else None,
            skipped_by=self._skip.by if self._skip else None,
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

    def _count_wait(self, seconds: float) -> None:
        self._waited_s += seconds

    # --- work and judgement ---

    async def _attempts(self, agent: Agent, judge: Judge) -> None:
        prompt: str | None = self._spec.prompt
        first, known = 1, None
        last, models = self._parts.attempts or self._spec.attempts.verify, self._parts.models
        left, said = self._beginning.left, self._conversation
        if said is not None and self._beginning.mode == "go_on":
            prompt = None
            first = min(max(said.attempt, 1), last)
            known = outcome_left(left, said) if left is not None else None
        for attempt in range(first, last + 1):
            outcome = known or await agent.run(prompt, attempt)
            known = None
            self._answer, self._is_withheld = outcome.answer, outcome.is_withheld
            if not self._may_be_judged(outcome):
                return
            verdict = await judge.judge(attempt, outcome.answer)
            self._verdict, self._changes = verdict, verdict.changes
            if verdict.error is not None:
                self.error = verdict.error
            has_next_model = models is not None and attempts_of(models.route) > attempt
            if verdict.passed or verdict.error or not _may_go_on(outcome, has_next_model=has_next_model):
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
            self._skip = Skip("budget", f"no request made: {self._shared} budget is used up")
        else:
            return True
        return False

    async def _keep_result(self) -> None:
        """The patch and the answer; what can't be had is said."""
        try:
            if self._changes is None:
                self._changes = await self._parts.workspace.changes(effective_protect(self._spec))
            self._patch_name = write_patch(self._parts, self._changes.patch, is_whole=self.error is None)
            structured = self._verdict.structured_output if self._verdict is not None else None
            if self._is_withheld:
                raise PolicyError("the answer holds a secret value: it is withheld")
            write_answer(self._parts, structured, self._answer)
        except (PiBatchError, OSError) as error:
            if self.error is None:
                kind = error.kind if isinstance(error, PiBatchError) else "internal"
                self.error = RunError(kind, str(error))
            else:
                self._emit(Warned(str(error)))


def _may_go_on(outcome: AgentOutcome, *, has_next_model: bool) -> bool:
    """True when another attempt makes sense: no limit ended this one.

    One that went round in circles would do so again, unless another model makes it.
    """
    return outcome.stop in ("completed", "model_error") or (
        has_next_model and outcome.stop == "repeated_calls"
    )
