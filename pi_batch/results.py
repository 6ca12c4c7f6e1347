"""What a run came to: one `RunResult` per task, model, inputs and repeat, one `BatchResult` per run.

`fold.py` alone computes them; `reports/` alone renders them. `pi-batch schema result` prints the JSON
Schema of `BatchResult`; field names here are the keys of run.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from pi_batch.errors import ErrorKind
from pi_batch.messages import Usage

SCHEMA_VERSION = 1

Outcome = Literal["passed", "failed", "error", "skipped"]

AgentStop = Literal[
    "completed",
    "max_turns",
    "max_tokens",
    "max_cost",
    "max_wall_time",
    "max_tool_calls",
    "repeated_calls",
    "model_error",
    "cancelled",
]
"""Why the agent stopped; a limit does not decide the outcome where there are checks."""

RoutePolicy = Literal["fallback", "escalate", "phases", "classify", "function"]
"""How a virtual model, or a spec's `fallback:`, picks among models."""
SkippedBy = Literal["only_if", "left_alone", "precheck", "budget"]
"""What decided that there was nothing to do: the spec, earlier nights, a command, or want of budget."""

BatchStatus = Literal["running", "complete", "interrupted"]
FileStatus = Literal["added", "modified", "deleted", "renamed"]


class RunError(Struct, frozen=True):
    """What went wrong, for a machine and for a person."""

    kind: ErrorKind
    message: str
    """One line."""


class Skip(Struct, frozen=True):
    """Why a task is not run."""

    by: SkippedBy
    reason: str
    """One line."""


class TestCounts(Struct, frozen=True):
    """Test evidence of one check."""

    executed: int
    """Tests that ran, whatever came of them."""
    skipped: int

    __test__ = False


class VerificationResult(Struct, frozen=True):
    """One check in one attempt."""

    name: str
    command: str
    """Empty for checks that run no command (output files, output schema)."""
    exit_code: int | None
    """None when no command ran, or when a signal or the time limit ended it."""
    passed: bool
    duration_s: float
    attempt: int
    """From 1."""
    tests: TestCounts | None = None
    log: str | None = None
    """The check's whole output, relative to run.json."""
    message: str = ""
    """One line; why it did not pass. Empty when it passed."""
    error: RunError | None = None
    """Set when the check could not be judged, as opposed to: it failed."""


class ChangedFile(Struct, frozen=True):
    """One file of the patch."""

    path: str
    """Relative to the workspace's root, as it is on disk."""
    status: FileStatus
    added: int | None
    """Lines; None for a binary file."""
    deleted: int | None
    old_path: str | None = None
    """Where a renamed file came from."""


class PermissionDenial(Struct, frozen=True):
    """One call that the permissions refused."""

    tool: str
    tool_call_id: str
    input: Mapping[str, Any]
    rule: str


class BudgetAmounts(Struct, frozen=True):
    """One number per dimension; in a limit None means unlimited, in a use it means unknown."""

    turns: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    wall_s: float | None = None
    tool_calls: int | None = None


class BudgetReport(Struct, frozen=True):
    """A task's limits beside what it used."""

    limit: BudgetAmounts = field(default_factory=BudgetAmounts)
    used: BudgetAmounts = field(default_factory=BudgetAmounts)


class CodemodeCounts(Struct, frozen=True):
    """Scripts run, and what became of the calls they made."""

    scripts: int = 0
    calls: int = 0
    """Inner calls that were carried out."""
    bytes_saved: int = 0
    """What the inner calls' results would have put into the history, less what the scripts' own did."""
    layers: tuple[str, ...] = ()
    """What held the scripts, by the names of docs/codemode.md; empty when none ran."""


class ModelUsage(Struct, frozen=True):
    """What one model gave and took, failed requests and summaries included."""

    replies: int = 0
    cached_replies: int = 0
    """Of these, how many had been kept: their tokens count, they cost nothing."""
    usage: Usage = field(default_factory=Usage)
    total_cost_usd: float | None = 0.0
    """None when any request's price is unknown."""


class ModelSelection(Struct, frozen=True):
    """Who was asked from some point on, and why."""

    after_turn: int
    """How many replies had come by then."""
    model: str
    """As the route names it: provider/model[:level]."""
    policy: RoutePolicy
    reason: str
    router: str
    """router/NAME; empty for a spec's own `fallback:`."""
    error_kind: ErrorKind | None
    """What the one before failed with; None where nothing failed."""


class SandboxReport(Struct, frozen=True):
    """What stood between the task and the machine."""

    name: str
    layers: tuple[str, ...] = ()
    """Empty for `none`: nothing is isolated."""


class EffectiveValue(Struct, frozen=True):
    """A setting and where it came from: cli, spec, suite, environment, config or default."""

    value: Any
    source: str


class PlannedResult(Struct, frozen=True):
    """One result that the plan promises; a planned key without a result is a state of its own."""

    key: str
    task_id: str
    title: str
    spec: str
    """The spec file as named on the command line, or `builtin:NAME`."""
    spec_sha256: str
    model: str
    suite: str = ""
    """The suite's or spec's stem: JUnit's testsuite and classname."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 1
    shows_model: bool = False
    """True when the plan has several models."""
    shows_repeat: bool = False
    tags: tuple[str, ...] = ()
    repo: str = ""
    """Address of the repository that the task is about, without credentials; empty: the workspace's path."""
    ref: str = ""
    """What was asked for of it; empty: its HEAD."""
    repo_name: str = ""
    """Its name in the plan, where a matrix has it."""
    digest: str = ""
    """SHA-256 of what a benchmark task is made of; empty for others, whose files are the user's own."""
    edition: str = ""
    """Of its suite; empty where that has none."""


class RunResult(Struct, frozen=True):
    """One task, judged."""

    key: str
    task_id: str
    title: str
    spec: str
    spec_sha256: str
    model: str
    """As asked for: provider/model[:level]."""
    suite: str
    models_used: tuple[str, ...]
    """Each model that answered, in order of first answer."""
    inputs: Mapping[str, Any]
    repeat: int
    tags: tuple[str, ...]
    outcome: Outcome
    verified: bool
    """True when at least one check ran and all passed."""
    stop: AgentStop | None
    """None when skipped or when no agent ran."""
    reason: str
    """One line for a person: why this outcome."""
    error: RunError | None
    attempts: int
    num_turns: int
    tool_calls: Mapping[str, int]
    """Calls carried out, by tool; codemode's inner calls are in `codemode`."""
    codemode: CodemodeCounts
    usage: Usage
    total_cost_usd: float | None
    """None when any request's price is unknown."""
    budget: BudgetReport
    started_at: str | None
    """ISO 8601, UTC."""
    duration_s: float
    """Wall time of the task, setup and checks included."""
    working_s: float
    """duration_s without waiting for rate limits and other tasks."""
    verification: tuple[VerificationResult, ...]
    """Every check of every attempt, in order."""
    changed_files: tuple[ChangedFile, ...]
    protected_touched: tuple[str, ...]
    permission_denials: tuple[PermissionDenial, ...]
    warnings: tuple[str, ...]
    answer: str | None
    structured_output: Any
    session: str | None
    """Relative to run.json, as are patch and logs."""
    patch: str | None
    base_commit: str | None
    start_commit: str | None
    sandbox: SandboxReport | None
    settings: Mapping[str, EffectiveValue]
    """Effective settings and where each came from."""
    digest: str = ""
    """SHA-256 of what a benchmark task is made of: only results with the same one can be compared."""
    edition: str = ""
    """Of its suite."""
    cache_read_share: float | None = None
    """Part of all input that a service read from its prompt cache; None without any input."""
    repo: str = ""
    """The repository that the task is about, as planned; empty: the workspace's path."""
    ref: str = ""
    repo_name: str = ""
    model_usage: Mapping[str, ModelUsage] = field(default_factory=dict)
    """provider/model that answered -> its sums; they add up to `usage` and `total_cost_usd`."""
    model_selections: tuple[ModelSelection, ...] = ()
    """What a virtual model or a fallback decided, in order; empty for a plain model."""
    skipped_by: SkippedBy | None = None
    """None when it was not skipped."""


class Totals(Struct, frozen=True):
    """Sums over results."""

    planned: int = 0
    passed: int = 0
    failed: int = 0
    error: int = 0
    skipped: int = 0
    missing: int = 0
    """Planned, without a result (yet)."""
    scored: int = 0
    """Passed or failed: what the model is to be judged by. The rest of `planned` says nothing of it."""
    unverified: int = 0
    """Passed without a check."""
    num_turns: int = 0
    usage: Usage = field(default_factory=Usage)
    total_cost_usd: float | None = 0.0


class BatchResult(Struct, frozen=True):
    """One run of `pi-batch run`: run.json."""

    schema_version: int
    run_id: str
    started_at: str
    duration_s: float
    status: BatchStatus
    planned: tuple[PlannedResult, ...]
    totals: Totals
    results: tuple[RunResult, ...]
    exit_code: int
    pi_batch_version: str
    warnings: tuple[str, ...] = ()
    legs: int = 1
    """How often the run was begun or resumed; all sums are over all legs."""
