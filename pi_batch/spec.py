"""What a task is: the frozen models behind the YAML, and the plan that they are expanded into.

pydantic models because this is a border; `load.py` fills them from YAML and says where each mistake is.
The keys here are the YAML's keys. `pi-batch schema task` prints the JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pi_batch.results import EffectiveValue, PlannedResult

ToolName = Literal["read", "write", "edit", "bash", "grep", "find", "ls", "think", "codemode"]
Isolation = Literal["clone", "copy", "none"]
InputType = Literal["string", "integer", "number", "boolean", "enum", "file", "command"]
SandboxName = Literal["auto", "bwrap", "landlock", "docker", "podman", "none"]
Trust = Literal["trusted", "untrusted"]

ALL_TOOLS: tuple[ToolName, ...] = ("read", "write", "edit", "bash", "grep", "find", "ls", "think", "codemode")
DEFAULT_ENV = ("PATH", "HOME", "LANG")


class SpecModel(BaseModel):
    """Base of the spec's models: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, strict=True)


class InputSpec(SpecModel):
    """One declared input."""

    type: InputType = "string"
    default: Any = None
    required: bool | None = None
    """Left out: required when there is no default."""
    description: str = ""
    values: tuple[str, ...] = ()
    """For enum: what is allowed."""
    trust: Trust = "trusted"


class WorkspaceSpec(SpecModel):
    """Where the agent works."""

    path: str = "."
    """Relative to the spec file's directory; for a built-in spec, to the current directory."""
    isolation: Isolation = "clone"
    include_uncommitted: bool = True
    setup: tuple[str, ...] = ()
    setup_network: bool = True
    setup_timeout_s: float = Field(default=600.0, gt=0)
    """For each setup command."""
    repo: str | None = None
    ref: str | None = None


class PathRules(SpecModel):
    """Allow and deny lists of globs; deny always wins; no allow list = all allowed."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class PermissionsSpec(SpecModel):
    """What tools may do."""

    read: PathRules = PathRules()
    write: PathRules = PathRules()
    """Covers edit."""
    bash: PathRules = PathRules()
    """Command patterns instead of paths."""
    env: tuple[str, ...] = DEFAULT_ENV
    """Variables that children get."""
    network: bool | tuple[str, ...] = False


class BudgetSpec(SpecModel):
    """Hard limits; null = no limit."""

    turns: int | None = Field(default=50, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    cost_usd: float | None = Field(default=None, ge=0)
    wall_s: float | None = Field(default=1800.0, gt=0)
    tool_calls: int | None = Field(default=None, ge=1)


class SuiteBudgetSpec(SpecModel):
    """Hard limits over all tasks of a suite; null = no limit."""

    turns: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    cost_usd: float | None = Field(default=None, ge=0)
    wall_s: float | None = Field(default=None, gt=0)
    tool_calls: int | None = Field(default=None, ge=1)


class Precheck(SpecModel):
    """A command that decides whether there is anything to do."""

    run: str = Field(min_length=1)
    skip_if: Literal["passes", "fails"] = "passes"
    timeout_s: float = Field(default=300.0, gt=0)


class Check(SpecModel):
    """A command that must exit 0."""

    name: str = Field(min_length=1)
    run: str = Field(min_length=1)
    timeout_s: float = Field(default=300.0, gt=0)


class Attempts(SpecModel):
    """How often the work is judged."""

    verify: int = Field(default=1, ge=1)
    """Verifications in total; a failing one's output goes back to the model."""


class OutputSpec(SpecModel):
    """What the agent must leave besides a patch."""

    schema_: Annotated[Mapping[str, Any] | None, Field(alias="schema")] = None
    """JSON Schema of the final answer."""
    files: tuple[str, ...] = ()
    """Files that must exist, relative to the workspace."""


class SystemSpec(SpecModel):
    """The system prompt: appended to ours, or in its place."""

    append: str | None = None
    replace: str | None = None


class TaskSpec(SpecModel):
    """One task, as written, defaults filled in."""

    version: Literal[1] = 1
    id: str = Field(min_length=1)
    title: str = ""
    model: str | None = None
    inputs: Mapping[str, InputSpec] = Field(default_factory=dict)
    prompt: str = Field(min_length=1)
    system: SystemSpec = SystemSpec()
    workspace: WorkspaceSpec = WorkspaceSpec()
    context_files: bool = True
    tools: tuple[ToolName, ...] = ALL_TOOLS
    permissions: PermissionsSpec = PermissionsSpec()
    sandbox: SandboxName = "auto"
    sandbox_required: bool = False
    trust: Trust = "trusted"
    budget: BudgetSpec = BudgetSpec()
    precheck: Precheck | None = None
    verify: tuple[Check, ...] = ()
    verify_in: Literal["clean", "workspace"] | None = None
    """Left out: clean for clone and copy, workspace for none."""
    attempts: Attempts = Attempts()
    protect: tuple[str, ...] = ()
    output: OutputSpec = OutputSpec()
    codemode: Literal["on", "only", "off"] | None = None
    fallback: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    mcp: Mapping[str, Any] = Field(default_factory=dict)
    only_if: Any = None
    follow_ups: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """One result to be made: a spec with every template rendered, for one model, inputs and repeat."""

    planned: PlannedResult
    """Key and identity, as the report shows them."""
    spec: TaskSpec
    """Rendered: prompt, system, setup, precheck and verify hold no template any more."""
    spec_dir: str
    """Absolute; what relative workspace paths start from."""
    model: str
    """provider/model[:level], never empty."""
    settings: Mapping[str, EffectiveValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that one `pi-batch run` will do, in order."""

    tasks: tuple[PlannedTask, ...]
    budget: SuiteBudgetSpec
    """Over all tasks."""
    max_parallel: int = 1
