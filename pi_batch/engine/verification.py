"""The judge: setup, precheck, and a verdict on each attempt that the model has no hand in.

The verdict is given in a clean copy: start plus patch, with the harness and the protected paths as at the
start, setup run again there, in a sandbox and an environment of its own. What a check's exit code of 0 is
worth is found by comparing with the start. `output.files` are looked for in the agent's workspace, because
what git ignores is in no patch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.engine.bench import (
    Bench,
    JudgeParts,
    emit_end,
    fresh_bench,
    log_stem,
    observed,
    set_up,
    task_bench,
    without_old_bytecode,
)
from pi_batch.engine.case import Case, open_case, unprotected_tests
from pi_batch.engine.feedback import SCHEMA, feedback, log_tail
from pi_batch.engine.machine import Machine, carried_over, differences, look
from pi_batch.engine.start import Baselines, StartCopy
from pi_batch.engine.start_tests import StartTests
from pi_batch.errors import SetupError, VerificationError
from pi_batch.events import VerificationStart, Warned
from pi_batch.protocols import Changes, CheckContext, Judgement, Verifier
from pi_batch.results import RunError, VerificationResult
from pi_batch.spec import Check
from pi_batch.text import one_line

__all__ = ["Judge", "JudgeParts", "Verdict"]


class Verdict(Struct, frozen=True):
    """What one attempt came to."""

    passed: bool
    """True when every check passed; without any check, always."""
    results: tuple[VerificationResult, ...]
    changes: Changes | None
    """With every path that was put back among `protected_touched`."""
    feedback: str
    """For the model; empty when it passed."""
    structured_output: Any = None
    error: RunError | None = None
    """Set when a check could not be judged."""


class Judge:
    """Judges one task; remembers what the start came to."""

    def __init__(self, parts: JudgeParts, verifiers: Mapping[str, Verifier]) -> None:
        self._parts = parts
        self._verifiers = verifiers
        self._baselines = Baselines()
        self._machine: Machine | None = None
        self._warned: set[str] = set()

    async def setup(self) -> None:
        """Set the workspace up, before the agent. Raises: SetupError."""
        parts = self._parts
        failed = None
        if parts.spec.workspace.setup:
            failed = await set_up(parts, self._verifiers["command"], task_bench(parts), "", 1)
        if failed is not None:
            tail = one_line(log_tail(parts.log_dir / f"{failed.name}.log", 1024))
            raise SetupError(f"{failed.name}: {failed.command!r}: {failed.message}; its output ends: {tail}")
        self._machine = self._look()

    def take_up(self, machine: Machine | None) -> None:
        """Go on where an earlier process was; `machine` is as `setup` found it there."""
        self._machine = self._look() if machine is None else machine

    @property
    def machine(self) -> Machine:
        """What decides how checks run, as it was after `setup`."""
        return self._machine or {}

    async def only_if(self) -> str | None:
        """Why the task is not worth running; None when it is. Raises: VerificationError."""
        spec = self._parts.spec.only_if
        if spec is None or spec.run is None:
            return None
        judgement = await self._asked("only_if", spec.run, spec.timeout_s)
        if judgement.result.passed:
            return None
        return one_line(f"only_if: {spec.run} fails ({judgement.result.message})")

    async def precheck(self) -> str | None:
        """Why there is nothing to do; None when there is. Raises: VerificationError."""
        spec = self._parts.spec.precheck
        if spec is None:
            return None
        judgement = await self._asked("precheck", spec.run, spec.timeout_s)
        result = judgement.result
        self._baselines.offer(spec.run, judgement)
        if result.passed != (spec.skip_if == "passes"):
            return None
        how = "exits with 0" if result.passed else f"fails ({result.message})"
        return one_line(f"precheck: {spec.run} {how}")

    async def _asked(self, phase: Literal["only_if", "precheck"], run: str, timeout_s: float) -> Judgement:
        """A command's answer before the agent begins. Raises: VerificationError where it gives none."""
        parts = self._parts
        check = Check(name=phase, run=run, timeout_s=timeout_s)
        context = without_old_bytecode(task_bench(parts)).context(parts, f"{phase}.log", 1)
        judgement = await observed(
            parts, phase, self._verifiers["command"], check, context, name=phase, command=run
        )
        if judgement.result.error is not None:
            raise VerificationError(f"{phase}: {judgement.result.error.message}")
        return judgement

    async def judge(self, attempt: int, answer: str | None) -> Verdict:
        """Judge what the workspace holds now. Raises: WorkspaceError, SandboxError, LogWriteError."""
        parts, before = self._parts, self._look()
        changed = () if self._machine is None else differences(self._machine, before)
        case = await open_case(parts, attempt, answer, changed)
        for text in case.changes.warnings:
            self._warn(text)
        try:
            judgements = await self._judge_all(case)
        finally:
            if self._machine is not None:
                self._machine = carried_over(self._machine, before, self._look())
        results = tuple(judgement.result for judgement in judgements)
        passed = all(result.passed for result in results)
        if passed and (warning := unprotected_tests(parts.spec, case)) is not None:
            self._warn(warning)
        return Verdict(
            passed=passed,
            results=results,
            changes=case.changes,
            feedback=""
            if passed
            else feedback(judgements, parts.log_dir, case.restored, is_clean=case.is_clean),
            structured_output=next((one.value for one in judgements if one.value is not None), None),
            error=next((result.error for result in results if result.error is not None), None),
        )

    def _look(self) -> Machine:
        """What decides how checks run, where there are any."""
        parts = self._parts
        if not parts.spec.verify:
            return {}
        commands = [check.run for check in parts.spec.verify]
        scratch = str(parts.scratch)
        return look(parts.make_env(scratch), commands, (parts.workspace.path, scratch))

    # --- judging ---

    async def _judge_all(self, case: Case) -> list[Judgement]:
        """Every check, then the output's files and its schema; all of them, also after a failure."""
        parts, output = self._parts, self._parts.spec.output
        judgements = await self._judge_commands(case) if parts.spec.verify else []
        plain = task_bench(parts).context(parts, "", case.attempt)
        if output.files:
            judgements.append(await self._observed("files", output.files, plain, "output.files"))
        if output.schema_ is not None:
            context = replace(plain, answer=case.answer)
            judgement = await self._observed("schema", output.schema_, context, SCHEMA)
            judgements.append(replace(judgement, value=parts.mask.mask_json(judgement.value)))
        return judgements

    async def _judge_commands(self, case: Case) -> list[Judgement]:
        parts = self._parts
        async with AsyncExitStack() as stack:
            start = StartCopy(parts, self._verifiers["command"], self._baselines, case.attempt)
            stack.push_async_callback(start.close)
            start_tests = StartTests(parts, self._verifiers["command"], case)
            stack.push_async_callback(start_tests.close)
            bench = await stack.enter_async_context(self._bench(case))
            if case.is_clean:
                failed = await set_up(
                    parts, self._verifiers["command"], bench, f"verify-{case.attempt}-", case.attempt
                )
                if failed is not None:
                    return self._all_failed(case, failed, await start.failed_setup())
            judgements = []
            for check, log in self._logs(case.attempt):
                context = self._context(case, bench, start, check, log)
                if parts.workspace.start_commit is not None:
                    stem = log.removeprefix(f"verify-{case.attempt}-").removesuffix(".log")
                    context = replace(context, with_start_tests=partial(start_tests.judgement, check, stem))
                judgements.append(await self._observed("command", check, context, check.name, check.run))
            return judgements

    @asynccontextmanager
    async def _bench(self, case: Case) -> AsyncIterator[Bench]:
        """Where the checks run: in a clean copy that is gone afterwards, or in the workspace."""
        parts = self._parts
        async with AsyncExitStack() as stack:
            path = parts.workspace.path
            if case.is_clean:
                copy = await parts.clean_copy("patched", case.globs)
                stack.push_async_callback(copy.close)
                path = copy.path
            bench = await stack.enter_async_context(fresh_bench(parts, path))
            yield bench if case.is_clean else without_old_bytecode(bench)

    def _context(self, case: Case, bench: Bench, start: StartCopy, check: Check, log: str) -> CheckContext:
        is_tracked = self._parts.workspace.start_commit is not None

        async def start_text(path: str) -> str | None:
            content = await self._parts.workspace.start_file(path)
            return None if content is None else content.decode("utf-8", "replace")

        async def baseline() -> Judgement | None:
            if is_tracked and not case.changes.files:
                return None
            return await start.judgement(check) if is_tracked else self._baselines.get(check.run)

        return replace(
            bench.context(self._parts, log, case.attempt),
            changes=case.changes,
            answer=case.answer,
            baseline=baseline,
            start_text=start_text if is_tracked else None,
            restored=case.restored,
            tampered=case.tampered,
        )

    async def _observed(
        self, verifier: str, check: Any, context: CheckContext, name: str, command: str = ""
    ) -> Judgement:
        return await observed(
            self._parts, "verify", self._verifiers[verifier], check, context, name=name, command=command
        )

    def _all_failed(
        self, case: Case, failed: VerificationResult, failed_at_start: VerificationResult | None
    ) -> list[Judgement]:
        """Setup failed in the clean copy: the patch broke it, unless it fails at the start as well."""
        message = f"not run: {failed.name} failed in the clean copy: {failed.message}"
        error = RunError("setup", f"{message}, and at the start as well") if failed_at_start else None
        judgements = []
        for check in self._parts.spec.verify:
            self._parts.emit(VerificationStart("verify", check.name, check.run, case.attempt))
            result = VerificationResult(
                check.name,
                check.run,
                None,
                False,
                0.0,
                case.attempt,
                log=failed.log,
                message=error.message if error else f"{message}; it passed at the start",
                error=error,
            )
            emit_end(self._parts, "verify", result)
            judgements.append(Judgement(result))
        return judgements

    def _logs(self, attempt: int) -> Sequence[tuple[Check, str]]:
        """Each check with the name of its log; checks whose names look alike get a number."""
        seen: dict[str, int] = {}
        named = []
        for check in self._parts.spec.verify:
            stem = f"verify-{attempt}-{log_stem(check.name)}"
            seen[stem] = seen.get(stem, 0) + 1
            named.append((check, f"{stem}.log" if seen[stem] == 1 else f"{stem}-{seen[stem]}.log"))
        return named

    def _warn(self, text: str) -> None:
        """Say something once a task."""
        if text not in self._warned:
            self._warned.add(text)
            self._parts.emit(Warned(text))
