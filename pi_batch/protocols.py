"""What the rooms offer and the engine uses: one Protocol per kind of part.

Each has at least two implementations, a fake included, and one conformance suite in tests/ that runs
over the room's table. Rooms import this module; they never import each other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pi_batch.errors import ToolErrorKind
from pi_batch.events import Record
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    TextBlock,
    ToolDeclaration,
    Usage,
)
from pi_batch.results import BatchResult, ChangedFile, VerificationResult

if TYPE_CHECKING:  # 124 ms of CPU; only needed to type the arguments
    from pydantic import BaseModel

FileKind = Literal["file", "directory", "link", "other"]


class Clock(Protocol):
    """Time, injected so that tests own it."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def time(self) -> float:
        """Seconds since the epoch."""
        ...


# --- models ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request: the history as it stands, through the history gate."""

    model: str
    """Without the provider: what the wire calls the model."""
    system: str
    messages: tuple[Message, ...]
    """No SystemMessage among them."""
    tools: tuple[ToolDeclaration, ...]
    max_output_tokens: int | None
    thinking: str | None
    """A thinking level or None."""
    timeout_s: float
    """Seconds left for the whole request."""
    session_id: str = ""
    """Stable over a task: cache affinity."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a reply while it streams."""

    kind: Literal["text", "thinking", "tool_call"]
    text: str


@dataclass(frozen=True, slots=True)
class RecordedSummary:
    """A compaction that a recording holds."""

    text: str
    kept_messages: int
    """How many of the newest messages it left as they were."""
    details: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    cost_usd: float | None = None


class Provider(Protocol):
    """A model service, or a recording of one."""

    name: str

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        """Yield deltas, then exactly one whole AssistantMessage, last.

        Raises: ProviderError; nothing of an incomplete message is ever yielded as a message.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


# --- sandboxes ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command in a sandbox ended."""

    exit_code: int | None
    """None when a signal or the time limit ended it."""
    signal: int | None
    timed_out: bool
    duration_s: float


@dataclass(frozen=True, slots=True)
class FileStat:
    """What a path is, links followed."""

    kind: FileKind
    size_bytes: int
    mode: int
    """Permission bits."""
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class DirEntry:
    """One name in a directory; links not followed."""

    name: str
    kind: FileKind
    link_target: str | None = None


@dataclass(frozen=True, slots=True)
class SandboxPlace:
    """What a sandbox is made around; all paths are absolute and real, and exist."""

    root: str
    """May be changed, with all below it: the workspace's repository, a clean copy."""
    scratch: str
    """A private directory, changeable too; what the sandbox shows as home and /tmp is kept in it."""
    readable: tuple[str, ...] = ()
    """May be read besides what every program needs."""
    hidden: tuple[str, ...] = ()
    """Must not be seen though it may lie in what is shown: the run directory."""
    network: bool | tuple[str, ...] = False
    """No network, all of it, or these hosts alone."""
    is_users_own: bool = False
    """True when `root` is a directory that people use: what their git would run from it cannot be changed."""


SandboxUse = Literal["commands", "setup"]
"""What a sandbox is for: setup may have the network where nothing else has."""


class Sandbox(Protocol):
    """Where a task's commands run and its files are; lives as long as its task.

    Paths are absolute. Background processes survive between calls and die in `close`. Output of a
    process that outlives its call keeps being drained, so that it neither blocks nor dies of it.
    """

    name: str
    layers: tuple[str, ...]
    """What isolates, strongest first; empty when nothing does."""

    async def start(self) -> None:
        """Bring it up. Raises: SandboxError."""
        ...

    async def close(self) -> None:
        """End every process that a call left, also those that left their session."""
        ...

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Completed:
        """Run a command: own session, stdin at end of file, stdout and stderr in one stream.

        Returns when the command itself has exited, never waiting for end of file. At the time limit,
        or when cancelled: TERM, a short grace, KILL, to everything the call started. `on_output` is never
        called after it returned; what it raises ends the call and is raised.

        Raises: SandboxError when it is not open. OSError when the command cannot be started; `filename`
        names the program, or `cwd`, that is not there.
        """
        ...

    async def resolve(self, path: str) -> str:
        """The real path: the deepest existing ancestor resolved, the rest appended."""
        ...

    async def stat(self, path: str) -> FileStat | None:
        """What is there; None when nothing is (a dangling link included)."""
        ...

    async def read(self, path: str, *, offset: int = 0, limit_bytes: int | None = None) -> bytes:
        """Bytes of a regular file. Raises: OSError."""
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Replace the content in place of the real file, keeping mode and hard links; makes parents.

        Written whole or not at all as far as the file's links allow. Raises: OSError.
        """
        ...

    async def list(self, path: str) -> list[DirEntry]:
        """A directory's entries by name. Raises: OSError."""
        ...


# --- tools ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives back: `content` for the model, `details` for logs, `value` for scripts."""

    content: tuple[TextBlock | ImageBlock, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
    error_kind: ToolErrorKind | None = None
    value: Any = None
    """The structured result that codemode hands to a script; None: the text."""
    layers: tuple[str, ...] = ()
    """What held the code that the call ran, besides the task's sandbox; for the report."""


class OutputFile(Protocol):
    """A file in the task's outputs/, masked as it is written."""

    path: str
    """Absolute; what the model is told."""

    def write(self, data: bytes) -> None:
        """Append; beyond the file's own cap the rest is counted and dropped."""
        ...

    def close(self) -> None:
        """Flush."""
        ...


class ToolContext(Protocol):
    """What a tool may touch while one call runs."""

    sandbox: Sandbox
    workspace: str
    """Absolute real path of the workspace."""
    call_id: str
    env: Mapping[str, str]
    """The allow-listed environment for children."""
    scratch: str
    """A private directory of the task, outside the workspace, inside the sandbox."""
    is_inner: bool
    """True when a script asked: what a model could not read is no reason to give less then."""

    @property
    def seconds_left(self) -> float:
        """What the task's wall time leaves; infinite without a limit."""
        ...

    def open_output(self, suffix: str) -> OutputFile:
        """A new file in outputs/, named after this call."""
        ...

    async def resolve(self, path: str, *, for_writing: bool) -> str:
        """A model's path as an absolute real path inside the workspace (or, for reading, outputs/).

        Raises: ToolError when it lies outside or holds a NUL.
        """
        ...

    def update(self, text: str) -> None:
        """Show progress: a live-only event."""
        ...

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Make an inner call through the same door as direct calls."""
        ...


class Tool(Protocol):
    """Something a model can call."""

    name: str
    description: str
    is_read_only: bool
    returns: str
    """What a script gets, as a Python annotation; behind a `#` what is in it."""

    @property
    def arguments(self) -> type[BaseModel]:
        """Its JSON Schema is what the model sees; aliases are accepted, not shown."""
        ...

    def written_paths(self, arguments: Any) -> tuple[str, ...]:
        """Paths as the model spelled them, for queueing writers by real path; bash: ()."""
        ...

    async def run(self, arguments: Any, context: ToolContext) -> ToolOutput:
        """Carry the call out. Raises: ToolError with the text that the model will read."""
        ...


# --- workspaces -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference from the start."""

    patch: bytes
    """`git apply --binary` on the start commit gives the workspace's state."""
    files: tuple[ChangedFile, ...]
    protected_touched: tuple[str, ...]
    """Changed paths that match the protect globs; the clean copy has them as at the start."""
    warnings: tuple[str, ...] = ()
    """What is not in the patch and why, one line each."""


class CleanCopy(Protocol):
    """A directory made of start plus patch, protected paths from the start."""

    path: str
    """The directory that corresponds to the workspace's path."""

    async def close(self) -> None:
        """Remove it."""
        ...


class Workspace(Protocol):
    """Where the agent works, how it differs from the start, and copies that the agent never saw."""

    isolation: str
    source: str
    """The user's directory."""
    path: str
    """The agent's directory; real and absolute once open."""
    base_commit: str | None
    """HEAD of the user's checkout; None without one."""
    start_commit: str | None
    """The synthetic commit of the snapshot; None when changes are not tracked."""

    async def open(self) -> tuple[str, ...]:
        """Make it; return warnings. Raises: WorkspaceError, and then nothing was made."""
        ...

    async def changes(self, protect: Sequence[str]) -> Changes:
        """What differs now from the start. Raises: WorkspaceError."""
        ...

    async def clean_copy(self, state: Literal["start", "patched"], protect: Sequence[str]) -> CleanCopy:
        """A fresh copy of the start, or of start plus what `changes` gave last. Raises: WorkspaceError."""
        ...

    async def start_file(self, path: str) -> bytes | None:
        """A file's content at the start, by path relative to `path`; None when it was not there."""
        ...

    async def apply(self, patch: bytes) -> None:
        """Change the files as a patch of `changes` says. Raises: WorkspaceError where it does not fit."""
        ...

    async def close(self, *, keep: bool) -> None:
        """Remove what was made, unless it is to be kept for a resume."""
        ...


# --- verifiers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TestEvidence:
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


@dataclass(frozen=True, slots=True)
class Judgement:
    """A check's result with what the engine needs beside it."""

    result: VerificationResult
    evidence: tuple[TestEvidence, ...] = ()
    """One per runner that was seen."""
    value: Any = None
    """The structured output, for a check that reads one."""
    with_start_tests: Judgement | None = None
    """The run with the start's own tests that made a green check fail."""


@dataclass(frozen=True, slots=True)
class CheckContext:
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


# --- outlets --------------------------------------------------------------------------------------


class Sink(Protocol):
    """Somewhere the stream goes: a log, a terminal, standard output."""

    takes_live_only: bool
    """False where live-only events, thousands a reply, are of no use: then they need not come."""

    def handle(self, record: Record) -> None:
        """Take one record; never alters it. Raises: LogWriteError."""
        ...

    def close(self) -> None:
        """Flush and release."""
        ...


class Report(Protocol):
    """A rendering of a BatchResult."""

    name: str

    def render(self, batch: BatchResult) -> str:
        """The whole document, ending in one newline."""
        ...
