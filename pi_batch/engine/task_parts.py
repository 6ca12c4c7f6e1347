"""What one task is made of and where it is taken up; nothing is started here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from pi_batch.engine.legs import Mode, TaskLeft
from pi_batch.engine.masking import Mask
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.retry import RetryPolicy
from pi_batch.engine.router import Models
from pi_batch.engine.tool_calls import Rules
from pi_batch.engine.verification import Judge, JudgeParts
from pi_batch.events import TaskStart
from pi_batch.messages import Message, ToolDeclaration
from pi_batch.protocols import Clock, Sandbox, SandboxUse, Tool, Workspace
from pi_batch.results import BudgetAmounts, Skip
from pi_batch.session_log import SessionLog
from pi_batch.spec import BudgetSpec, PlannedTask, SuiteBudgetSpec
from pi_batch.times import iso_utc


async def _open_gate() -> Skip | None:
    return None


class TaskParts(Struct, frozen=True):
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
    models: Models | None = None
    """What the task may be asked of, where that is not `port` alone; `port` is one of them."""
    attempts: int | None = None
    """Verifications in total; None: what the spec says."""
    is_watched: bool = True
    """Whether any sink takes live-only events."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    bind_history: Callable[[Iterable[Message]], None] = lambda _messages: None
    """Tells tools that remember what was said before."""
    gate: Callable[[], Awaitable[Skip | None]] = _open_gate
    """Why a task that begins is not to run now; asked before anything is made. Raises: PiBatchError."""
    read_patch: Callable[[str], bytes] = lambda _name: b""
    """A patch of the run directory, by its name relative to run.json. Raises: WorkspaceError."""


class TaskBeginning(Struct, frozen=True):
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
