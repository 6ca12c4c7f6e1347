"""How work is judged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from pi_batch.protocols.sandboxes import Sandbox
from pi_batch.protocols.workspaces import Changes
from pi_batch.results import VerificationResult


class TestEvidence(Struct, frozen=True):
    """What one runner left behind of the tests it ran: a report file, or its printed counts."""

    runner: str
    """pytest, unittest, jest, go or cargo."""
    executed: int
    """Tests that ran, whatever came of them; over all runs of this runner in one check."""
    skipped: int
    """Skipped, ignored, or expected to fail."""
    failed: int = 0
    """Of the last run's executed tests."""
    executed_names: tuple[str, ...] = ()
    """Sorted, with repeats; empty when unknown."""
    skipped_names: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    """Test files that could not be loaded: none of their tests is counted."""
    runs: int = 1
    """How often the runner printed its counts; 0 when only a report file says that it ran."""
    is_report: bool = False
    """True when the runner wrote a report file, which is harder to fake than a printed line."""
    found_none: bool = False
    """True when the runner said that there was no test for it to run."""
    failed_names: tuple[str, ...] = ()
    """Those of `executed_names` that failed; sorted."""

    __test__ = False


class Judgement(Struct, frozen=True):
    """A check's result with what the engine needs beside it."""

    result: VerificationResult
    evidence: tuple[TestEvidence, ...] = ()
    """One per runner that was seen."""
    value: Any = None
    """The structured output, for a check that reads one."""
    with_start_tests: Judgement | None = None
    """The run with the start's own tests that made a green check fail."""


class CheckContext(Struct, frozen=True):
    """Where and with what one check is judged."""

    sandbox: Sandbox
    path: str
    """The directory to judge: the clean copy, or the workspace."""
    env: Mapping[str, str]
    scratch: str
    """A private directory of this check's sandbox, outside the directory to judge."""
    log_path: Path
    """Where the whole output goes, masked."""
    log_name: str
    """The same, relative to run.json."""
    attempt: int
    mask: Callable[[str], str]
    changes: Changes | None = None
    """None where nothing is compared: setup, precheck, and the counting of the start's tests."""
    answer: str | None = None
    baseline: Callable[[], Awaitable[Judgement | None]] | None = None
    """The same check at the start, run when first asked for; None when the start cannot be had."""
    start_text: Callable[[str], Awaitable[str | None]] | None = None
    """A file's text at the start, by path relative to the workspace; None when it was not there."""
    protect: Sequence[str] = ()
    """The spec's own globs: a negated one allows changes that would make a passing check fail."""
    restored: Sequence[str] = ()
    """Changed paths that the judged directory has as they were at the start."""
    tampered: Sequence[str] = ()
    """What else was changed that decides how checks run; each is one phrase, and fails a passing check."""
    is_counting: bool = False
    """True at the start: only the tests matter, so that test files that do not load are passed over."""
    with_start_tests: Callable[[Sequence[str]], Awaitable[Judgement | None]] | None = None
    """The same check on the same work, with some test files as at the start; None: it tells nothing."""


class Verifier(Protocol):
    """One way to judge."""

    name: str

    async def verify(self, check: Any, context: CheckContext) -> Judgement:
        """Judge. Raises: VerificationError when no judgement is possible."""
        ...
