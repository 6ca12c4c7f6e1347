"""What a task is: the frozen models behind the YAML, and the plan that they are expanded into.

pydantic models because this is a border; `load/` fills them from YAML and says where each mistake is.
The keys here are the YAML's keys, and the text under a field is what `pi-batch schema task` tells an
editor about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, Field, field_serializer

from pi_batch.repository_address import without_credentials
from pi_batch.results import EffectiveValue, PlannedResult

ToolName = Literal["read", "write", "edit", "bash", "grep", "find", "ls", "think", "codemode"]
Isolation = Literal["clone", "copy", "none"]
InputType = Literal["string", "integer", "number", "boolean", "enum", "file", "command"]
SandboxName = Literal["auto", "bwrap", "landlock", "docker", "podman", "none"]
Trust = Literal["trusted", "untrusted"]

ALL_TOOLS: tuple[ToolName, ...] = ("read", "write", "edit", "bash", "grep", "find", "ls", "think", "codemode")
CHANGING_TOOLS: tuple[ToolName, ...] = ("write", "edit", "bash")
"""What a task with `trust: untrusted` does not get."""
BUILTIN_MODELS = ("oracle", "nop", "tamper")
"""Models that need no service: they do what the reference solution says, nothing, or what cheats do."""
CodemodeMode = Literal["on", "only", "off"]
DEFAULT_ENV = ("PATH", "HOME", "LANG")


class SpecModel(BaseModel):
    """Base of the spec's models: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class InputSpec(SpecModel):
    """One declared input, set by -i NAME=VALUE, a suite's matrix, or its default."""

    type: InputType = "string"
    """`file` gives a file's content; a `command` goes into run: verbatim, all others are shell-quoted."""
    default: Any = None
    """Of the declared type; for `file` a path, relative to the spec file."""
    required: bool | None = None
    """Left out: required when there is no default."""
    description: str = ""
    """For people."""
    values: tuple[str, ...] = ()
    """For enum: what is allowed."""
    trust: Trust = "trusted"
    """`untrusted` values are fenced and labelled as data in prompts."""


class WorkspaceSpec(SpecModel):
    """Where the agent works."""

    path: str = "."
    """Relative to the spec file's directory (a built-in spec: the current one), or to the top of repo."""
    isolation: Isolation = "clone"
    """A clone with its own .git, a plain copy, or none: in place."""
    include_uncommitted: bool = True
    """Start from the files as they are on disk, not as committed."""
    setup: tuple[str, ...] = ()
    """Shell commands before the agent starts, and again in the clean copy."""
    setup_network: bool = True
    """Whether setup may use the network, whatever permissions.network says."""
    setup_timeout_s: float = Field(default=600.0, gt=0)
    """For each setup command."""
    repo: str | None = Field(default=None, repr=False)
    """A repository to clone: an https, ssh or file URL, user@host:path, or a path from the spec file."""
    ref: str | None = None
    """The branch, tag or commit of repo; left out: the branch that its HEAD names."""

    @field_serializer("repo")
    def _without_credentials(self, repo: str | None) -> str | None:
        return None if repo is None else without_credentials(repo)


class PathRules(SpecModel):
    """Allow and deny lists of globs; deny always wins; no allow list = all allowed."""

    allow: tuple[str, ...] | None = None
    """Left out: everything that is not denied."""
    deny: tuple[str, ...] = ()
    """Wins over allow."""


class PermissionsSpec(SpecModel):
    """What tools may do. There is no `ask`: nobody is there to answer."""

    read: PathRules = PathRules()
    """Paths that read, grep, find and ls may see."""
    write: PathRules = PathRules()
    """Paths that write and edit may change."""
    bash: PathRules = PathRules()
    """Command patterns instead of paths."""
    env: tuple[str, ...] = DEFAULT_ENV
    """Variables that children get."""
    network: bool | tuple[str, ...] = False
    """true, false, or a list of hosts."""


class BudgetSpec(SpecModel):
    """Hard limits; null = no limit."""

    turns: int | None = Field(default=50, ge=1)
    """Model responses."""
    tokens: int | None = Field(default=None, ge=1)
    """Input, output, cache reads and cache writes of all requests together."""
    cost_usd: float | None = Field(default=None, ge=0)
    """US dollars."""
    wall_s: float | None = Field(default=1800.0, gt=0)
    """Seconds of the agent's phase; setup and checks have limits of their own."""
    tool_calls: int | None = Field(default=None, ge=1)
    """Calls, codemode's inner ones included."""


class SuiteBudgetSpec(SpecModel):
    """Hard limits over all tasks of a suite; null = no limit."""

    turns: int | None = Field(default=None, ge=1)
    """Model responses."""
    tokens: int | None = Field(default=None, ge=1)
    """Input, output, cache reads and cache writes of all requests together."""
    cost_usd: float | None = Field(default=None, ge=0)
    """US dollars."""
    wall_s: float | None = Field(default=None, gt=0)
    """Seconds."""
    tool_calls: int | None = Field(default=None, ge=1)
    """Calls, codemode's inner ones included."""


class MatrixRepo(SpecModel):
    """One repository of a suite's matrix; an item may be its address alone."""

    repo: str = Field(repr=False)
    """As workspace.repo."""
    ref: str | None = None
    """As workspace.ref."""
    path: str | None = None
    """As workspace.path: where in the repository; left out: as the task says."""
    name: str | None = None
    """In keys and branches; left out: the last part of the address."""
    inputs: Mapping[str, Any] = Field(default_factory=dict)
    """Values for this repository, over matrix.inputs."""
    budget: SuiteBudgetSpec | None = None
    """Hard limits over all tasks of this repository, over repo_budget."""


class Precheck(SpecModel):
    """A command that decides whether there is anything to do."""

    run: str = Field(min_length=1)
    """A shell command."""
    skip_if: Literal["passes", "fails"] = "passes"
    """What the command must do for the task to be skipped."""
    timeout_s: float = Field(default=300.0, gt=0)
    """Seconds."""


class Check(SpecModel):
    """A command that must exit 0."""

    name: str = Field(min_length=1)
    """Unique in the task; names the log."""
    run: str = Field(min_length=1)
    """A shell command, run with -e and -o pipefail."""
    timeout_s: float = Field(default=300.0, gt=0)
    """Seconds."""


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
    """Text after ours."""
    replace: str | None = None
    """Text instead of ours."""


class TaskSpec(SpecModel):
    """One task, as written, defaults filled in."""

    version: Literal[1] = 1
    """Of this format."""
    id: str = Field(min_length=1)
    """Unique in a plan; left out: the file's name without its suffix."""
    title: str = ""
    """For people."""
    model: str | None = None
    """provider/model[:thinking level]."""
    inputs: Mapping[str, InputSpec] = Field(default_factory=dict)
    """What templates may use as {{ inputs.NAME }}."""
    prompt: str = Field(min_length=1)
    """A jinja2 template: what the agent is to do."""
    system: SystemSpec = SystemSpec()
    """Text after our system prompt, or {replace: TEXT} in its place."""
    workspace: WorkspaceSpec = WorkspaceSpec()
    """Where the agent works."""
    context_files: bool = True
    """Read AGENTS.md and CLAUDE.md: the user's, the parents', the workspace's."""
    tools: tuple[ToolName, ...] = ALL_TOOLS
    """What the agent may call; left out: everything."""
    permissions: PermissionsSpec = PermissionsSpec()
    """What tools may do."""
    sandbox: SandboxName = "auto"
    """What stands between commands and the machine."""
    sandbox_image: str | None = None
    """For docker and podman: an image that is here already; for podman also the path of a directory tree."""
    sandbox_required: bool = False
    """Refuse to run in anything weaker than asked for."""
    trust: Trust = "trusted"
    """untrusted: nothing of the checkout is obeyed; no network, no tool that changes; sandboxed."""
    budget: BudgetSpec = BudgetSpec()
    """Hard limits."""
    precheck: Precheck | None = None
    """Red before green: when it says so, no request is made."""
    verify: tuple[Check, ...] = ()
    """Commands that judge; an item may be a plain command."""
    verify_in: Literal["clean", "workspace"] | None = None
    """Left out: clean for clone and copy, workspace for none."""
    attempts: Attempts = Attempts()
    """How often the work is judged."""
    protect: tuple[str, ...] = ()
    """Globs of paths that are judged as they were at the start."""
    hidden: tuple[str, ...] = ()
    """Files and directories that only the clean copy gets, under their own names, when it is judged; relative
    as workspace.path is. Needs isolation: copy."""
    solution: str | None = None
    """A directory with a reference solution: what the model `oracle` does."""
    output: OutputSpec = OutputSpec()
    """What the agent must leave besides a patch."""
    codemode: CodemodeMode | None = None
    """Scripts that call tools: on beside direct calls, only instead of them, or off."""
    fallback: tuple[str, ...] = ()
    """Models to go on with when the first one is not to be had."""
    skills: tuple[str, ...] = ()
    """Instructions to load on demand."""
    mcp: Mapping[str, Any] = Field(default_factory=dict)
    """MCP servers."""
    only_if: Any = None
    """When to run at all."""
    follow_ups: tuple[str, ...] = ()
    """Prompts after the first one."""
    tags: tuple[str, ...] = ()
    """For --filter tag:NAME."""


class SuiteSpec(SpecModel):
    """A suite file: tasks, and what they share."""

    version: Literal[1] = 1
    """Of this format."""
    title: str = ""
    """For people."""
    edition: str = ""
    """Of the tasks, where results are to be compared: a suite of another edition is another suite."""
    tasks: tuple[Any, ...]
    """Paths and globs, relative to this file, and whole tasks."""
    defaults: Mapping[str, Any] = Field(default_factory=dict)
    """What every task starts from; the task's own word wins, its lists replace."""
    matrix: Mapping[str, Any] = Field(default_factory=dict)
    """Each task runs for every combination: {model: [...], repo: [...], inputs: {NAME: [...]}}."""
    repeat: int = Field(default=1, ge=1)
    """How often each task runs."""
    budget: SuiteBudgetSpec = SuiteBudgetSpec()
    """Hard limits over all tasks together."""
    repo_budget: SuiteBudgetSpec = SuiteBudgetSpec()
    """Hard limits over all tasks of one repository of the matrix."""
    max_parallel: int | None = Field(default=None, ge=1)
    """Tasks at a time."""


class PlannedTask(Struct, frozen=True):
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
    group: str = ""
    """Tasks of one group share a budget: those of a repository of a matrix."""

    @property
    def hidden_paths(self) -> tuple[Path, ...]:
        """Where the task's hidden files are."""
        return tuple(Path(self.spec_dir, name) for name in self.spec.hidden)

    @property
    def solution_path(self) -> Path | None:
        """Where its reference solution is; None where it has none."""
        return None if self.spec.solution is None else Path(self.spec_dir, self.spec.solution)


class Plan(Struct, frozen=True):
    """Everything that one `pi-batch run` will do, in order."""

    tasks: tuple[PlannedTask, ...]
    budget: SuiteBudgetSpec
    """Over all tasks."""
    max_parallel: int = 1
    group_budgets: Mapping[str, SuiteBudgetSpec] = field(default_factory=dict)
    """By group; one that is not in it has no limits of its own."""
