"""Which value holds, and why: CLI > spec > suite defaults > environment > config > default."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.load.config import (
    Config,
    codemode_name,
    environment_config,
    sandbox_name,
    thinking_level,
)
from pi_batch.load.options import PlanOptions
from pi_batch.load.problems import Problems
from pi_batch.load.rules import image_name
from pi_batch.load.suite import Suite
from pi_batch.load.task import LoadedTask
from pi_batch.model_names import ModelName, model_name
from pi_batch.results import EffectiveValue
from pi_batch.routes import Route, attempts_of, resolve
from pi_batch.spec import CHANGING_TOOLS, DEFAULT_ENV, Attempts, BudgetSpec, TaskSpec, VirtualModel

DEFAULT_JOBS: Final = 1
SCRIPT_TOOL: Final = "codemode"
_BUDGET_OPTIONS: Final = {
    "turns": "max_turns",
    "tokens": "max_tokens",
    "cost_usd": "max_cost_usd",
    "wall_s": "max_wall_s",
}


class Sources(Struct, frozen=True):
    """The places that settings come from, spec files aside."""

    options: PlanOptions
    environment: Config

    def named(self, key: str) -> EffectiveValue | None:
        """What the environment or the configuration file says."""
        for source, config in (("environment", self.environment), ("config", self.options.config)):
            value = getattr(config, key)
            if value is not None:
                return EffectiveValue(value, source)
        return None


def read_sources(options: PlanOptions, problems: Problems) -> Sources:
    """The options and the environment, their mistakes noted."""
    for name in options.models:
        _note(f"-m {name}", model_name(name), problems)
    if options.sandbox is not None:
        _note("--sandbox", sandbox_name(options.sandbox), problems)
    if options.sandbox_image is not None:
        _note("--sandbox-image", image_name(options.sandbox_image), problems)
    if options.codemode is not None:
        _note("--codemode", codemode_name(options.codemode), problems)
    if options.thinking is not None:
        _note("--thinking", thinking_level(options.thinking), problems)
    for option in ("repeat", "jobs", "max_turns", "max_tokens"):
        _note_bound(f"--{option.replace('_', '-')}", getattr(options, option), 1, problems)
    _note_bound("--max-cost-usd", options.max_cost_usd, 0, problems)
    wall_s = options.max_wall_s
    if wall_s is not None and not 0 < wall_s < math.inf:
        problems.add_plain("--max-wall-s", f"got {wall_s}, need > 0")
    return Sources(options, environment_config(options.environ, problems))


def _note(name: str, complaint: str | None, problems: Problems) -> None:
    if complaint:
        problems.add_plain(name, complaint)


def _note_bound(name: str, value: float | None, least: int, problems: Problems) -> None:
    if value is not None and not least <= value < math.inf:
        problems.add_plain(name, f"got {value}, need >= {least}")


def models_of(task: LoadedTask, suite: Suite, sources: Sources) -> tuple[EffectiveValue, ...]:
    """The models that a task is to run with; empty where nobody names one."""
    if sources.options.models:
        return tuple(EffectiveValue(model, "cli") for model in dict.fromkeys(sources.options.models))
    if suite.matrix.models:
        return tuple(EffectiveValue(model, "suite") for model in suite.matrix.models)
    if task.spec.model:
        return (EffectiveValue(task.spec.model, task.origin("model") or "spec"),)
    named = sources.named("model")
    return (named,) if named else ()


def settings_of(
    task: LoadedTask, model: EffectiveValue, jobs: EffectiveValue, sources: Sources
) -> Mapping[str, EffectiveValue]:
    """A task's effective settings and where each came from."""
    spec = task.spec
    isolation = _written(task, spec.workspace.isolation, "workspace", "isolation")
    settings = {
        "model": model,
        "sandbox": _sandbox(task, sources),
        "sandbox_image": _sandbox_image(task, sources),
        "sandbox_required": _sandbox_required(task, sources),
        "trust": trust_of(task, sources),
        "codemode": _codemode(task, sources),
        "thinking": _thinking(task, model, sources),
        "isolation": isolation,
        "verify_in": _verify_in(task, isolation),
        "attempts.verify": _attempts(task, model, sources),
        "jobs": jobs,
    }
    for name in BudgetSpec.__struct_fields__:
        settings[f"budget.{name}"] = _limit(task, name, sources)
    return settings


def _limit(task: LoadedTask, name: str, sources: Sources) -> EffectiveValue:
    """One limit of the budget."""
    option = _BUDGET_OPTIONS.get(name, "")
    value = getattr(sources.options, option, None)
    if value is not None:
        return EffectiveValue(value, "cli")
    own = _written(task, getattr(task.spec.budget, name), "budget", name)
    return own if own.source != "default" or not option else sources.named(option) or own


def virtual_models_of(task: LoadedTask, sources: Sources) -> Mapping[str, VirtualModel]:
    """The virtual models that a task knows: its own, and the configuration file's unless it is distrusted."""
    is_trusted = trust_of(task, sources).value == "trusted"
    return {**((sources.options.config.models or {}) if is_trusted else {}), **task.spec.models}


def route_of(task: LoadedTask, model: str, sources: Sources) -> Route:
    """Who may be asked for a task. Raises: UsageError for a virtual model that leads nowhere."""
    return resolve(model, virtual_models_of(task, sources), task.spec.fallback)


def _attempts(task: LoadedTask, model: EffectiveValue, sources: Sources) -> EffectiveValue:
    """Verifications in total; without a word in the spec as many as an escalating model has steps."""
    own = _written(task, task.spec.attempts.verify, "attempts", "verify")
    if own.source != "default":
        return own
    return EffectiveValue(max(own.value, attempts_of(route_of(task, model.value, sources))), "default")


_RANKS: Final = ("cli", "spec", "suite", "environment", "config", "default")


def _thinking(task: LoadedTask, model: EffectiveValue, sources: Sources) -> EffectiveValue:
    """The level for models without one of their own; a level behind the model's name wins over its equals."""
    own = _written(task, task.spec.thinking, "thinking")
    if sources.options.thinking is not None:
        own = EffectiveValue(sources.options.thinking, "cli")
    elif own.value is None:
        own = sources.named("thinking") or own
    suffix = ModelName.parse(model.value).thinking
    if suffix is None or (own.value is not None and _RANKS.index(own.source) < _RANKS.index(model.source)):
        return own
    return EffectiveValue(suffix, model.source)


def _written(task: LoadedTask, value: Any, *steps: str) -> EffectiveValue:
    return EffectiveValue(value, task.origin(*steps) or "default")


def _sandbox(task: LoadedTask, sources: Sources) -> EffectiveValue:
    if sources.options.sandbox is not None:
        return EffectiveValue(sources.options.sandbox, "cli")
    own = _written(task, task.spec.sandbox, "sandbox")
    return own if own.source != "default" else sources.named("sandbox") or own


def _sandbox_image(task: LoadedTask, sources: Sources) -> EffectiveValue:
    if sources.options.sandbox_image is not None:
        return EffectiveValue(sources.options.sandbox_image, "cli")
    own = _written(task, task.spec.sandbox_image, "sandbox_image")
    return own if own.source != "default" else sources.named("sandbox_image") or own


def _sandbox_required(task: LoadedTask, sources: Sources) -> EffectiveValue:
    """Whoever asks for it has it: no other place can take it back."""
    if sources.options.sandbox_required:
        return EffectiveValue(True, "cli")
    own = _written(task, task.spec.sandbox_required, "sandbox_required")
    named = sources.named("sandbox_required")
    return named if named is not None and named.value and not own.value else own


def trust_of(task: LoadedTask, sources: Sources) -> EffectiveValue:
    """Distrust of any place is enough."""
    own = _written(task, task.spec.trust, "trust")
    named = sources.named("trust")
    given = sources.options.trust
    if own.value == "trusted" and named is not None and named.value != "trusted" and given != "untrusted":
        return named
    return EffectiveValue(given, "cli") if given is not None and own.value == "trusted" else own


def _codemode(task: LoadedTask, sources: Sources) -> EffectiveValue:
    """How scripts are used. A list of tools is the spec's word, too: it has the tool, or it has not."""
    if sources.options.codemode is not None:
        return EffectiveValue(sources.options.codemode, "cli")
    own = _written(task, task.spec.codemode, "codemode")
    listed = task.origin("tools")
    is_overruled = own.value == "off" and listed == "spec" and SCRIPT_TOOL in task.spec.tools
    if own.value is not None and not is_overruled:
        return own
    if listed and SCRIPT_TOOL not in task.spec.tools:
        return EffectiveValue("off", listed)
    named = sources.named("codemode")
    if listed and (named is None or named.value == "off"):
        return EffectiveValue("on", listed)
    return named or EffectiveValue("on", "default")


def _tools(spec: TaskSpec, mode: str) -> tuple[str, ...]:
    """What the agent may call, each once, with codemode or without."""
    names = tuple(dict.fromkeys(spec.tools))
    if mode == "off":
        return tuple(name for name in names if name != SCRIPT_TOOL)
    return names if SCRIPT_TOOL in names else (*names, SCRIPT_TOOL)


def _verify_in(task: LoadedTask, isolation: EffectiveValue) -> EffectiveValue:
    if task.spec.verify_in:
        return _written(task, task.spec.verify_in, "verify_in")
    return EffectiveValue("workspace" if isolation.value == "none" else "clean", "default")


def jobs_of(suites: Sequence[Suite], sources: Sources) -> EffectiveValue:
    """Tasks at a time: the smallest of several suites' words."""
    if sources.options.jobs is not None:
        return EffectiveValue(sources.options.jobs, "cli")
    limits = [suite.spec.max_parallel for suite in suites if suite.spec.max_parallel is not None]
    if limits:
        return EffectiveValue(min(limits), "suite")
    return sources.named("jobs") or EffectiveValue(DEFAULT_JOBS, "default")


def repeat_of(suite: Suite, sources: Sources) -> int:
    """How often each task of a suite runs."""
    if sources.options.repeat is not None:
        return sources.options.repeat
    named = None if "repeat" in suite.written else sources.named("repeat")
    return suite.spec.repeat if named is None else int(named.value)


def with_settings(spec: TaskSpec, settings: Mapping[str, EffectiveValue]) -> TaskSpec:
    """The spec as it will be run: effective values in place of written ones."""
    budget = {name: settings[f"budget.{name}"].value for name in BudgetSpec.__struct_fields__}
    effective = replace(
        spec,
        trust=settings["trust"].value,
        model=settings["model"].value,
        sandbox=settings["sandbox"].value,
        sandbox_image=settings["sandbox_image"].value,
        sandbox_required=settings["sandbox_required"].value,
        verify_in=settings["verify_in"].value,
        budget=BudgetSpec(**budget),
        codemode=settings["codemode"].value,
        thinking=settings["thinking"].value,
        attempts=Attempts(verify=settings["attempts.verify"].value),
        tools=_tools(spec, settings["codemode"].value),
    )
    return distrusting(effective) if effective.trust == "untrusted" else effective


def distrusting(spec: TaskSpec) -> TaskSpec:
    """A spec for a checkout that may be hostile: it is read, in a sandbox, and nothing can leave it.

    No network, setup included; no variables but the usual three; no tool that changes anything. The
    checkout's instructions are left out where prompts are made.
    """
    permissions = spec.permissions
    return replace(
        spec,
        sandbox_required=True,
        tools=tuple(tool for tool in spec.tools if tool not in CHANGING_TOOLS),
        permissions=replace(
            permissions, network=False, env=tuple(name for name in permissions.env if name in DEFAULT_ENV)
        ),
        workspace=replace(spec.workspace, setup_network=False),
    )
