"""Every error this program raises on purpose, in one tree.

    PiBatchError                 exit 3   something outside the task's own work went wrong
    ├── UsageError               exit 2   the command line or the environment is wrong
    │   ├── SpecError            exit 2   one or more problems in spec files, all of them listed
    │   └── TemplateError        exit 2   a template of a spec that cannot be rendered
    ├── EmptySelection           exit 4   nothing was selected to run
    ├── ProviderError            exit 3   a model request failed; carries what a retry needs to know
    │   └── ReplayDiverged       exit 3   a recording was asked for more than it holds
    ├── SandboxError             exit 3   the sandbox could not start or could not carry out an operation
    ├── WorkspaceError           exit 3   the isolated copy could not be made, or its changes not be read
    ├── SetupError               exit 3   a setup command failed
    ├── VerificationError        exit 3   a check could not be judged (as opposed to: it failed)
    ├── PolicyError              exit 3   the task asked for something that its own policy forbids
    ├── ExecutorError            exit 3   trials can no longer be carried out where they were
    ├── LogWriteError            exit 3   a session, event or report file could not be written
    └── Cancelled                exit 130 (SIGINT) or 143 (SIGTERM)

`ToolError` stands apart: a failing tool is a result for the model and never ends a run.

Messages say what, where, and what to do, with values by !r:
`tasks/a.yaml:7: budget.turns: got -1, need >= 1`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ErrorKind = Literal[
    "auth",
    "permission",
    "model_not_found",
    "invalid_request",
    "context_overflow",
    "request_too_large",
    "rate_limit",
    "quota",
    "overloaded",
    "server_error",
    "network",
    "timeout",
    "stream_interrupted",
    "bad_response",
    "content_filter",
    "refusal",
    "length",
    "malformed_tool_call",
    "price_unknown",
    "sandbox_unavailable",
    "mcp_unavailable",
    "workspace",
    "setup",
    "verification",
    "policy",
    "replay_diverged",
    "cancelled",
    "internal",
]
"""`error.kind` in the report: one closed set."""

ToolErrorKind = Literal[
    "malformed_tool_call",
    "unknown_tool",
    "invalid_arguments",
    "denied",
    "not_run",
    "timeout",
    "failed",
]
"""Why a tool result is an error. The first five mean that the call was not carried out."""


class PiBatchError(Exception):
    """Base of every error raised on purpose; its text is one line for a person."""

    exit_code = 3
    kind: ErrorKind = "internal"


class UsageError(PiBatchError):
    """The command line, a config file or the environment asks for something impossible."""

    exit_code = 2
    kind: ErrorKind = "invalid_request"


class SpecProblem(Struct, frozen=True):
    """One thing wrong in a spec file."""

    file: str
    """The file as the user named it."""
    line: int
    """From 1; 0 where the problem has no line."""
    message: str
    """Field path first: `budget.turns: got -1, need >= 1`."""

    def __str__(self) -> str:
        """`file:line: message`, as compilers and editors print and parse it."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.message}"


class SpecError(UsageError):
    """Spec files that cannot be run; every problem found, one line each."""

    def __init__(self, problems: list[SpecProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class TemplateError(UsageError):
    """A template that cannot be rendered; `load/` says which field of which file it is."""

    def __init__(self, message: str, *, line: int = 1) -> None:
        super().__init__(message)
        self.line = line
        """Within the template, from 1."""


class EmptySelection(PiBatchError):
    """No task is left after filters and patterns."""

    exit_code = 4


class ProviderError(PiBatchError):
    """A model request failed.

    Providers raise it and never sleep; `engine/retry.py` alone decides on another try.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind,
        is_retryable: bool = False,
        status: int | None = None,
        retry_after_s: float | None = None,
        spent: object | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.is_retryable = is_retryable
        self.status = status
        """HTTP status, where there was one."""
        self.retry_after_s = retry_after_s
        """The server's own word on when to come back."""
        self.spent = spent
        """`messages.Usage` reported before the failure, or None: it counts as spent."""


class ReplayDiverged(ProviderError):
    """A recording was asked for a message that it does not hold."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="replay_diverged")


class SandboxError(PiBatchError):
    """The sandbox could not start, or could not carry out an operation."""

    kind: ErrorKind = "sandbox_unavailable"


class WorkspaceError(PiBatchError):
    """The isolated copy could not be made or its changes could not be read."""

    kind: ErrorKind = "workspace"


class SetupError(PiBatchError):
    """A setup command failed; the text names it and ends with its last lines of output."""

    kind: ErrorKind = "setup"


class VerificationError(PiBatchError):
    """A check could not be judged: it collected no test, or its tool is missing."""

    kind: ErrorKind = "verification"


class PolicyError(PiBatchError):
    """The task's result would break its own policy."""

    kind: ErrorKind = "policy"


class ExecutorError(PiBatchError):
    """Trials can no longer be carried out where they were: the run can be resumed."""


class LogWriteError(PiBatchError):
    """A session, event or report file could not be written (disk full, read-only)."""


class Cancelled(PiBatchError):
    """A signal ended the run."""

    exit_code = 130
    kind: ErrorKind = "cancelled"

    def __init__(self, exit_code: int = 130) -> None:
        super().__init__("cancelled by SIGTERM" if exit_code == 143 else "cancelled by SIGINT")
        self.exit_code = exit_code


class ToolError(Exception):
    """A tool's failure: its text becomes the error result that the model reads."""

    def __init__(self, message: str, *, error_kind: ToolErrorKind = "failed") -> None:
        super().__init__(message)
        self.error_kind: ToolErrorKind = error_kind
