"""A check that is a shell command: run it, keep its output, and say whether its 0 can be believed.

An exit code other than 0 is a failure. An exit code of 0 counts only when nothing that decides how the
check runs was changed, the start's tests still run, and it is not their change that made a red check green:
see `comparison`, `sections` and `start_tests`.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Mapping, Sequence

from msgspec import Struct

from pi_batch.errors import VerificationError
from pi_batch.harness import is_lifted
from pi_batch.invocations import invocations
from pi_batch.protocols import CheckContext, Completed, Judgement, TestEvidence
from pi_batch.results import RunError, VerificationResult
from pi_batch.runners import (
    expects_tests,
    is_for_tests,
    may_run_family,
    may_run_tests,
    named_runners,
    runs_pytest_once,
)
from pi_batch.spec import Check
from pi_batch.text import one_line
from pi_batch.verifiers.comparison import combined, problems, totals
from pi_batch.verifiers.evidence import RUNNERS, Collector
from pi_batch.verifiers.go_flags import with_names
from pi_batch.verifiers.output import Output, write_log
from pi_batch.verifiers.pytest_report import REFUSED, read_report, with_report
from pi_batch.verifiers.sections import changed_sections
from pi_batch.verifiers.start_tests import edited_tests, unmet

SHELL = ("bash", "-e", "-o", "pipefail")
MAX_ARGUMENT_BYTES = 96 * 1024
"""Longer commands go through a file; Linux takes no single argument of 128 KiB."""
MAX_RESTORED = 3
"""Files put back that a message names."""

_ONLY_ASKS = frozenset(
    {"--version", "-V", "--help", "-h", "--fixtures", "--markers", "--collect-only", "--co"}
)
"""Options with which a runner runs no test, and says so."""


class _Run(Struct, frozen=True):
    """A command that ran."""

    completed: Completed
    output: Output
    evidence: tuple[TestEvidence, ...]
    missing_program: str | None
    """A program of the command itself that is not installed."""

    @property
    def is_green(self) -> bool:
        return self.completed.exit_code == 0

    @property
    def found_none(self) -> bool:
        """True when every runner that was seen said that it found no test."""
        return bool(self.evidence) and all(
            one.found_none and not (self.is_green and one.runs == 0) for one in self.evidence
        )


class Command:
    """Judges by a command's exit code and by the tests that it ran."""

    name = "command"

    async def verify(self, check: Check, context: CheckContext) -> Judgement:
        """Run the command in the sandbox and judge it; its output goes to the log."""
        run = await _run(check, context)
        try:
            verdict = await _judge(check, context, run)
        except VerificationError as error:
            verdict = _Verdict(str(error), is_error=True)
        message = one_line(verdict.message)
        result = VerificationResult(
            name=check.name,
            command=check.run,
            exit_code=run.completed.exit_code,
            passed=not message,
            duration_s=round(run.completed.duration_s, 3),
            attempt=context.attempt,
            tests=totals(run.evidence),
            log=context.log_name,
            message=message,
            error=RunError("verification", message) if verdict.is_error else None,
        )
        return Judgement(result, run.evidence, with_start_tests=verdict.with_start_tests)


# --- running --------------------------------------------------------------------------------------


async def _run(check: Check, context: CheckContext) -> _Run:
    """Run the command; where a project refuses pytest's report, once more without asking for one."""
    if not may_run_tests(check.run):
        return await _run_once(check, context, context.env, None)
    report = f"{context.scratch}/report-{secrets.token_hex(8)}.xml"
    env = with_report(context.env, report, is_counting=context.is_counting)
    if may_run_family(invocations(check.run), "go"):
        env = await with_names(context.sandbox, env)
    run = await _run_once(check, context, env, report)
    if not run.is_green and run.output.ends_with(REFUSED):
        return await _run_once(check, context, context.env, None)
    return run


async def _run_once(check: Check, context: CheckContext, env: Mapping[str, str], report: str | None) -> _Run:
    output, collector = Output(), Collector(RUNNERS if report else ())

    def take(data: bytes) -> None:
        output.feed(data)
        collector.feed(data)

    argv = await _argv(check.run, context)
    try:
        completed = await context.sandbox.exec(
            argv, cwd=context.path, env=env, timeout_s=check.timeout_s, on_output=take
        )
    except OSError as error:
        where = error.filename or argv[0]
        raise VerificationError(f"cannot be started: {where}: {error.strerror or error}") from error
    finally:
        # Masking megabytes takes a while; also what a cancelled check printed is kept.
        text = await asyncio.to_thread(output.render, context.mask)
        write_log(context.log_path, text)
    evidence = collector.close()
    if report:
        found = await read_report(context.sandbox, report)
        evidence = combined(found, evidence, is_single=runs_pytest_once(check.run))
    missing = _missing_program(check.run, output) if completed.exit_code == 127 else None
    return _Run(completed, output, evidence, missing)


async def _argv(command: str, context: CheckContext) -> tuple[str, ...]:
    if len(command.encode("utf-8", "replace")) <= MAX_ARGUMENT_BYTES:
        return (*SHELL, "-c", command)
    path = f"{context.scratch}/command-{secrets.token_hex(8)}.sh"
    await context.sandbox.write(path, command.encode("utf-8", "surrogateescape"))
    return (*SHELL, path)


def _missing_program(command: str, output: Output) -> str | None:
    """The program that the shell did not find, if the command itself names it and no path leads to it."""
    for call in invocations(command):
        program = call.words[0]
        said = (f"{program}: command not found".encode(), f"{program}: not found".encode())
        if "/" not in program and any(map(output.ends_with, said)):
            return program
    return None


# --- judging --------------------------------------------------------------------------------------


class _Verdict(Struct, frozen=True):
    """What is wrong; an empty message: nothing."""

    message: str = ""
    is_error: bool = False
    with_start_tests: Judgement | None = None


async def _judge(check: Check, context: CheckContext, run: _Run) -> _Verdict:
    if run.completed.timed_out:
        return _Verdict(f"timed out after {check.timeout_s:g} s{_restored(context.restored)}")
    if run.missing_program is not None:
        return _Verdict(f"{run.missing_program}: command not found; install it in workspace.setup", True)
    if run.found_none and not context.is_counting:
        return await _judge_without_tests(context, run)
    if not run.is_green:
        return _Verdict(f"{_ending(run.completed)}{_restored(context.restored)}")
    if context.changes is None:
        return _Verdict()
    return await _judge_green(check, context, run)


async def _judge_without_tests(context: CheckContext, run: _Run) -> _Verdict:
    """No test was found: an error of the check, unless there were tests at the start."""
    runners = ", ".join(one.runner for one in run.evidence)
    message = f"{runners} found no test to run ({_ending(run.completed)})"
    start = await _start(context)
    before = totals(start.evidence) if start is not None else None
    if before is None or not (before.executed or before.skipped):
        return _Verdict(message, is_error=context.changes is not None)
    return _Verdict(f"{message}, {before.executed} ran at the start{_restored(context.restored)}")


async def _judge_green(check: Check, context: CheckContext, run: _Run) -> _Verdict:
    found = [*context.tampered]
    if may_run_tests(check.run):
        found += await changed_sections(context, check.run)
        if run.evidence or expects_tests(check.run):
            found += await _compared(context, run)
    if found:
        return _Verdict(f"exited with 0, but {'; '.join(found)}{_restored(context.restored)}")
    if "pytest" in _silent_runners(check.run, run.evidence):
        message = "pytest exited with 0 but left neither a report nor a summary: no test can be counted"
        return _Verdict(message, is_error=True)
    return await _judge_edited_tests(check, context, run)


async def _judge_edited_tests(check: Check, context: CheckContext, run: _Run) -> _Verdict:
    """Where the start's tests were changed: a check that was red must pass with the start's, too."""
    if context.changes is None or context.with_start_tests is None:
        return _Verdict()
    if not (run.evidence or any(map(is_for_tests, invocations(check.run)))):
        return _Verdict()
    if not run.evidence and not edited_tests(context.changes, context.restored, context.protect).files:
        return _Verdict()
    start = await _start(context)
    if start is None or start.result.passed:
        return _Verdict()
    edited = edited_tests(context.changes, context.restored, context.protect, start.evidence)
    there = await context.with_start_tests(edited.put_back) if edited.files else None
    message = unmet(check.run, run.evidence, start.evidence, there, edited) if there is not None else ""
    return _Verdict(message, with_start_tests=there if message else None)


async def _compared(context: CheckContext, run: _Run) -> tuple[str, ...]:
    start = await _start(context)
    if start is None or context.changes is None:
        return ()
    paths = {file.path for file in context.changes.files}
    paths |= {file.old_path for file in context.changes.files if file.old_path}
    changed = paths - set(context.restored)
    return problems(
        run.evidence,
        start.evidence,
        start_passed=start.result.passed,
        changed=changed,
        is_lifted=lambda path: is_lifted(path, context.protect),
    )


async def _start(context: CheckContext) -> Judgement | None:
    return await context.baseline() if context.baseline is not None else None


def _silent_runners(command: str, evidence: Sequence[TestEvidence]) -> frozenset[str]:
    """Runners that the command names and that left no sign of a run."""
    if any(word in _ONLY_ASKS for call in invocations(command) for word in call.words):
        return frozenset()
    return named_runners(command) - {one.runner for one in evidence}


def _ending(completed: Completed) -> str:
    """How a command ended, for a person."""
    if completed.exit_code is None:
        return f"ended by {_signal_name(completed.signal or 0)}"
    if completed.exit_code > 128:
        name = _signal_name(completed.exit_code - 128)
        return f"exit code {completed.exit_code}" + (f" ({name})" if name.startswith("SIG") else "")
    return f"exit code {completed.exit_code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _restored(paths: Sequence[str]) -> str:
    """Which changed files were judged as at the start; part of why a check may fail."""
    if not paths:
        return ""
    more = f" and {len(paths) - MAX_RESTORED} more" if len(paths) > MAX_RESTORED else ""
    return f" (as at the start: {', '.join(paths[:MAX_RESTORED])}{more})"
