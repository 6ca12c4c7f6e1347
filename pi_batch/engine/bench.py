"""A place where checks are run: a directory, a sandbox and an environment that the agent never touched."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.engine.masking import Mask
from pi_batch.errors import PiBatchError, VerificationError
from pi_batch.events import Event, VerificationEnd, VerificationPhase, VerificationStart
from pi_batch.protocols import (
    CheckContext,
    CleanCopy,
    Clock,
    Judgement,
    Sandbox,
    SandboxUse,
    Verifier,
    Workspace,
)
from pi_batch.results import RunError, VerificationResult
from pi_batch.spec import Check, TaskSpec
from pi_batch.text import one_line


class JudgeParts(Struct, frozen=True):
    """What the judge of one task is made of."""

    spec: TaskSpec
    workspace: Workspace
    sandbox: Sandbox
    """The task's own: for setup, precheck and looking at the agent's files."""
    make_sandbox: Callable[[str, str, SandboxUse], Sandbox]
    """A fresh one around a directory and a scratch directory, for each place where checks are run."""
    make_env: Callable[[str], Mapping[str, str]]
    """The children's environment, for a scratch directory."""
    scratch: Path
    """The task's scratch directory; those of checks are made beside it."""
    emit: Callable[[Event], None]
    clock: Clock
    mask: Mask
    log_dir: Path
    """tasks/<key>."""
    log_prefix: str
    """The same, relative to run.json."""
    lay_hidden: Callable[[str], None] = lambda _path: None
    """Puts the task's hidden files into a clean copy. Raises: WorkspaceError."""

    async def clean_copy(self, state: Literal["start", "patched"], protect: Sequence[str]) -> CleanCopy:
        """A copy to be judged, with the hidden files that the agent never saw. Raises: WorkspaceError."""
        copy = await self.workspace.clean_copy(state, protect)
        try:
            await asyncio.to_thread(self.lay_hidden, copy.path)
        except BaseException:
            await copy.close()
            raise
        return copy


class Bench(Struct, frozen=True):
    """Where commands of a check run."""

    path: str
    sandbox: Sandbox
    env: Mapping[str, str]
    scratch: str

    def context(self, parts: JudgeParts, log: str, attempt: int) -> CheckContext:
        """What a verifier is told for one check here, without anything to compare with."""
        return CheckContext(
            sandbox=self.sandbox,
            path=self.path,
            env=self.env,
            scratch=self.scratch,
            log_path=parts.log_dir / log,
            log_name=f"{parts.log_prefix}/{log}",
            attempt=attempt,
            mask=parts.mask.mask,
            protect=parts.spec.protect,
        )


@asynccontextmanager
async def fresh_bench(parts: JudgeParts, path: str) -> AsyncIterator[Bench]:
    """A bench at a directory, with a sandbox and a scratch directory of its own; both are gone after."""
    scratch = tempfile.mkdtemp(prefix="check-", dir=parts.scratch.parent)
    try:
        async with _started(parts, path, scratch, "commands") as sandbox:
            yield Bench(path, sandbox, parts.make_env(scratch), scratch)
    finally:
        await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)


@asynccontextmanager
async def _started(parts: JudgeParts, path: str, scratch: str, use: SandboxUse) -> AsyncIterator[Sandbox]:
    sandbox = parts.make_sandbox(path, scratch, use)
    try:
        await sandbox.start()
        yield sandbox
    finally:
        await sandbox.close()


@asynccontextmanager
async def setup_bench(parts: JudgeParts, bench: Bench) -> AsyncIterator[Bench]:
    """The bench as setup commands have it: in a sandbox of their own where they alone may use the network."""
    spec = parts.spec
    is_apart = spec.workspace.setup_network and spec.permissions.network is not True
    if not (spec.workspace.setup and is_apart and parts.sandbox.layers):
        yield bench
        return
    async with _started(parts, bench.path, bench.scratch, "setup") as sandbox:
        yield replace(bench, sandbox=sandbox)


def without_old_bytecode(bench: Bench) -> Bench:
    """The bench with Python's byte code in its scratch directory, read from there alone.

    In a tree that others use, too, byte code may be planted, or older than an edit of the same second.
    """
    return replace(bench, env={"PYTHONPYCACHEPREFIX": f"{bench.scratch}/pycache", **bench.env})


def task_bench(parts: JudgeParts) -> Bench:
    """The task's own workspace and sandbox: what the agent uses."""
    scratch = str(parts.scratch)
    return Bench(parts.workspace.path, parts.sandbox, parts.make_env(scratch), scratch)


async def observed(
    parts: JudgeParts,
    phase: VerificationPhase,
    verifier: Verifier,
    check: Any,
    context: CheckContext,
    *,
    name: str,
    command: str = "",
) -> Judgement:
    """Judge with an event before and after, also when no judgement comes of it; messages are masked.

    A check that cannot be judged is a result with an error; what goes wrong around it is raised.
    """
    parts.emit(VerificationStart(phase, name, command, context.attempt))
    started_s = parts.clock.monotonic()

    def without_judgement(reason: RunError) -> VerificationResult:
        duration_s = round(parts.clock.monotonic() - started_s, 3)
        result = VerificationResult(name, command, None, False, duration_s, context.attempt)
        return masked(replace(result, message=one_line(reason.message), error=reason), parts.mask)

    reason = RunError("internal", "the check ended without a judgement")
    judgement: Judgement | None = None
    try:
        judgement = await verifier.verify(check, context)
        judgement = replace(judgement, result=masked(judgement.result, parts.mask))
    except (VerificationError, OSError) as error:
        judgement = Judgement(without_judgement(RunError("verification", one_line(str(error)))))
    except PiBatchError as error:
        reason = RunError(error.kind, one_line(str(error)))
        raise
    except asyncio.CancelledError:
        reason = RunError("cancelled", "cancelled while it ran")
        raise
    finally:
        emit_end(parts, phase, judgement.result if judgement else without_judgement(reason))
    return judgement


def emit_end(parts: JudgeParts, phase: VerificationPhase, result: VerificationResult) -> None:
    """Say how a check ended."""
    parts.emit(
        VerificationEnd(
            phase=phase,
            name=result.name,
            command=result.command,
            exit_code=result.exit_code,
            passed=result.passed,
            duration_s=result.duration_s,
            attempt=result.attempt,
            tests=result.tests,
            log=result.log,
            message=result.message,
            error=result.error,
        )
    )


def masked(result: VerificationResult, mask: Mask) -> VerificationResult:
    """A result whose words hold no secret: test names and messages come from the judged code."""
    error = result.error and replace(result.error, message=mask.mask(result.error.message))
    return replace(result, message=mask.mask(result.message), error=error)


async def set_up(
    parts: JudgeParts, verifier: Verifier, bench: Bench, phase_log: str, attempt: int
) -> VerificationResult | None:
    """Run the setup commands in order; the first that fails, or None when all passed."""
    setup = parts.spec.workspace
    async with setup_bench(parts, bench) as opened:
        for number, command in enumerate(setup.setup, start=1):
            name = f"setup-{number}"
            check = Check(name=name, run=command, timeout_s=setup.setup_timeout_s)
            context = opened.context(parts, f"{phase_log}{name}.log", attempt)
            judgement = await observed(parts, "setup", verifier, check, context, name=name, command=command)
            if not judgement.result.passed:
                return judgement.result
    return None


def log_stem(name: str) -> str:
    """A check's name as part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._-")[:80] or "check"
