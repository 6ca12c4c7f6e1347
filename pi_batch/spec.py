"""What a task is: the frozen models behind the YAML, and the plan that they are expanded into.

`load/` fills them from YAML by the types and bounds given here, and says where each mistake is. The keys are
the YAML's keys, and the text under a field is what `pi-batch schema task` tells an editor about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field, to_builtins
from msgspec.structs import astuple

from pi_batch.errors import UsageError
from pi_batch.model_names import ThinkingLevel
from pi_batch.repository_address import without_credentials
from pi_batch.results import EffectiveValue, PlannedResult, RoutePolicy

ToolName = Literal["read", "write", "edit", "bash", "grep", "find", "ls", "think", "codemode"]
Isolation = Literal["clone", "copy", "none"]
InputType = Literal["string", "integer", "number", "boolean", "enum", "file", "command"]
SandboxName = Literal["auto", "bwrap", "landlock", "docker", "podman", "none"]
Trust = Literal["trusted", "untrusted"]

ALL_TOOLS: tuple[ToolName, ...] = ("read", "write", "edit", "bash", "grep", "find", "ls", "think", "codemode")
CHANGING_TOOLS: tuple[ToolName, ...] = ("write", "edit", "bash")
"""What a task with `trust: untrusted` does not get."""
CodemodeMode = Literal["on", "only", "off"]
DEFAULT_ENV = ("PATH", "HOME", "LANG")


Seconds = Annotated[float, Meta(gt=0)]
Days = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=1)]
Dollars = Annotated[float, Meta(ge=0)]
Text = Annotated[str, Meta(min_length=1)]
"""Not blank."""


class SpecModel(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the spec's models: frozen, no unknown keys; made by keywords."""


class InputSpec(SpecModel, frozen=True, kw_only=True):
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


class WorkspaceSpec(SpecModel, frozen=True, kw_only=True):
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
    setup_timeout_s: Seconds = 600.0
    """For each setup command."""
    repo: str | None = None
    """A repository to clone: an https, ssh or file URL, user@host:path, or a path from the spec file."""
    ref: str | None = None
    """The branch, tag or commit of repo; left out: the branch that its HEAD names."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({to_json(self)})"


class PathRules(SpecModel, frozen=True, kw_only=True):
    """Allow and deny lists of globs; deny always wins; no allow list = all allowed."""

    allow: tuple[str, ...] | None = None
    """Left out: everything that is not denied."""
    deny: tuple[str, ...] = ()
    """Wins over allow."""


class PermissionsSpec(SpecModel, frozen=True, kw_only=True):
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


class BudgetSpec(SpecModel, frozen=True, kw_only=True):
    """Hard limits; null = no limit."""

    turns: Count | None = 50
    """Model responses."""
    tokens: Count | None = None
    """Input, output, cache reads and cache writes of all requests together."""
    cost_usd: Dollars | None = None
    """US dollars."""
    wall_s: Seconds | None = 1800.0
    """Seconds of the agent's phase; setup and checks have limits of their own."""
    tool_calls: Count | None = None
    """Calls, codemode's inner ones included."""


class SuiteBudgetSpec(SpecModel, frozen=True, kw_only=True):
    """Hard limits over all tasks of a suite; null = no limit."""

    turns: Count | None = None
    """Model responses."""
    tokens: Count | None = None
    """Input, output, cache reads and cache writes of all requests together."""
    cost_usd: Dollars | None = None
    """US dollars."""
    wall_s: Seconds | None = None
    """Seconds."""
    tool_calls: Count | None = None
    """Calls, codemode's inner ones included."""


class MatrixRepo(SpecModel, frozen=True, kw_only=True):
    """One repository of a suite's matrix; an item may be its address alone."""

    repo: str
    """As workspace.repo."""
    ref: str | None = None
    """As workspace.ref."""
    path: str | None = None
    """As workspace.path: where in the repository; left out: as the task says."""
    name: str | None = None
    """In keys and branches; left out: the last part of the address."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Values for this repository, over matrix.inputs."""
    budget: SuiteBudgetSpec | None = None
    """Hard limits over all tasks of this repository, over repo_budget."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({to_json(self)})"


class OnlyIf(SpecModel, frozen=True, kw_only=True):
    """When a task is worth running; everything that is given must hold, else it is skipped."""

    run: Text | None = None
    """A shell command in the workspace, before setup: exit code 0 means run."""
    timeout_s: Seconds = 300.0
    """Seconds, for run."""
    changed: tuple[str, ...] = ()
    """Globs: commits changed a path that matches since the task last passed or had nothing to do."""
    since: str | None = None
    """A branch, tag or commit that `changed` compares with instead."""
    days: Days | None = None
    """At least so many days since the task last ran."""


class Precheck(SpecModel, frozen=True, kw_only=True):
    """A command that decides whether there is anything to do."""

    run: Text
    """A shell command."""
    skip_if: Literal["passes", "fails"] = "passes"
    """What the command must do for the task to be skipped."""
    timeout_s: Seconds = 300.0
    """Seconds."""


class Check(SpecModel, frozen=True, kw_only=True):
    """A command that must exit 0."""

    name: Text
    """Unique in the task; names the log."""
    run: Text
    """A shell command, run with -e and -o pipefail."""
    timeout_s: Seconds = 300.0
    """Seconds."""


class Attempts(SpecModel, frozen=True, kw_only=True):
    """How often the work is judged."""

    verify: Count = 1
    """Verifications in total; a failing one's output goes back to the model."""


class OutputSpec(SpecModel, frozen=True, kw_only=True):
    """What the agent must leave besides a patch."""

    schema_: Mapping[str, Any] | None = field(default=None, name="schema")
    """JSON Schema of the final answer."""
    files: tuple[str, ...] = ()
    """Files that must exist, relative to the workspace."""


class SystemSpec(SpecModel, frozen=True, kw_only=True):
    """The system prompt: appended to ours, or in its place."""

    append: str | None = None
    """Text after ours."""
    replace: str | None = None
    """Text instead of ours."""


class VirtualModel(SpecModel, frozen=True, kw_only=True):
    """A model made of others: `router/NAME` is whichever of them its policy picks."""

    policy: RoutePolicy
    """fallback: the first that is to be had; escalate: the next after a failed verification; phases: one
    plans, one works; classify: a cheap model picks; function: a Python function does (config file only)."""
    models: tuple[str, ...] = ()
    """In order, for fallback and escalate; what a function may choose from. May be router/NAME again."""
    plan: str | None = None
    """For phases: who makes the plan; nothing is changed meanwhile."""
    work: str | None = None
    """For phases: who carries it out."""
    classifier: str | None = None
    """For classify: who is asked what kind of task it is."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """For classify: kind of task, in words -> model."""
    function: str | None = None
    """For function: module:name."""


class TaskSpec(SpecModel, frozen=True, kw_only=True):
    """One task, as written, defaults filled in."""

    version: Literal[1] = 1
    """Of this format."""
    id: Text
    """Unique in a plan; left out: the file's name without its suffix."""
    title: str = ""
    """For people."""
    model: str | None = None
    """provider/model[:thinking level], or router/NAME of models."""
    thinking: ThinkingLevel | None = None
    """How much to think, for models that are named without a level; clamped to what each offers."""
    models: Mapping[str, VirtualModel] = field(default_factory=dict)
    """Virtual models by name; they win over the configuration file's."""
    inputs: Mapping[str, InputSpec] = field(default_factory=dict)
    """What templates may use as {{ inputs.NAME }}."""
    prompt: Text
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
    """Models to go on with, in order, on overload, spent quota, an unknown model or too small a window."""
    skills: tuple[str, ...] = ()
    """Instructions to load on demand."""
    mcp: Mapping[str, Any] = field(default_factory=dict)
    """MCP servers."""
    only_if: OnlyIf | None = None
    """When to run at all; a plain command is its run."""
    follow_ups: tuple[str, ...] = ()
    """Templates of further prompts: each is said when the agent would stop, before the checks."""
    tags: tuple[str, ...] = ()
    """For --filter tag:NAME."""


class SuiteSpec(SpecModel, frozen=True, kw_only=True):
    """A suite file: tasks, and what they share."""

    version: Literal[1] = 1
    """Of this format."""
    title: str = ""
    """For people."""
    edition: str = ""
    """Of the tasks, where results are to be compared: a suite of another edition is another suite."""
    tasks: tuple[Any, ...]
    """Paths and globs, relative to this file, `builtin:NAME`, and whole tasks."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What every task starts from; the task's own word wins, its lists replace."""
    matrix: Mapping[str, Any] = field(default_factory=dict)
    """Each task runs for every combination: {model: [...], repo: [...], inputs: {NAME: [...]}}."""
    repeat: Count = 1
    """How often each task runs."""
    budget: SuiteBudgetSpec = SuiteBudgetSpec()
    """Hard limits over all tasks together."""
    repo_budget: SuiteBudgetSpec = SuiteBudgetSpec()
    """Hard limits over all tasks of one repository of the matrix."""
    max_parallel: Count | None = None
    """Tasks at a time."""


def to_json(value: SpecModel) -> dict[str, Any]:
    """A model by its YAML's keys, with every default; credentials of addresses are left out."""
    document: dict[str, Any] = _listed(to_builtins(value))
    for place in (document, document.get("workspace")):
        if place and place.get("repo"):
            place["repo"] = without_credentials(place["repo"])
    return document


def _listed(value: Any) -> Any:
    """JSON has no tuples."""
    match value:
        case dict():
            return {key: _listed(item) for key, item in value.items()}
        case list() | tuple():
            return [_listed(item) for item in value]
        case _:
            return value


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
    virtual: Mapping[str, VirtualModel] = field(default_factory=dict)
    """What router/NAME may mean: the configuration file's virtual models, and the spec's own over them."""

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

    def need_one_process(self, how: str) -> None:
        """Raises: UsageError where tasks share limits that cannot be kept over several processes."""
        limited = [name for name, budget in self.group_budgets.items() if set(astuple(budget)) != {None}]
        if limited:
            raise UsageError(f"{how}: repo_budget cannot be kept over several: limit the tasks themselves")
