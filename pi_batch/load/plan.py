"""The plan: which results one run will make, each with a rendered task, a model and a key.

All problems of all files, options and variables are collected and raised as one SpecError before
anything runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from pi_batch.errors import UsageError
from pi_batch.load.input_types import is_unicode
from pi_batch.load.inputs import Inputs, note_unknown_inputs
from pi_batch.load.keys import model_parts, result_key
from pi_batch.load.nodes import Fields, Source
from pi_batch.load.options import PlanOptions
from pi_batch.load.problems import Problems, Where
from pi_batch.load.repositories import Site, budget_of, note_misfits
from pi_batch.load.selection import selected
from pi_batch.load.settings import (
    Sources,
    jobs_of,
    models_of,
    read_sources,
    route_of,
    settings_of,
    virtual_models_of,
    with_settings,
)
from pi_batch.load.specs import load_specs
from pi_batch.load.suite import Member, Suite
from pi_batch.load.task import LoadedTask
from pi_batch.load.variants import Variant, Variants, group_of, inputs_parts, variants_of
from pi_batch.repository_address import without_credentials
from pi_batch.results import EffectiveValue, PlannedResult
from pi_batch.spec import Plan, PlannedTask, SuiteBudgetSpec, TaskSpec, WorkspaceSpec
from pi_batch.wording import listed, nearest, quoted


def load_plan(specs: Sequence[str], options: PlanOptions) -> Plan:
    """Everything that a run of these SPEC words will do, in order.

    A SPEC is a file, a directory (its own *.yaml and *.yml files, sorted by name), or a built-in name.

    Raises: SpecError with every problem; EmptySelection; UsageError where no model is named.
    """
    return _plan(specs, options, is_check=False)


def check_specs(specs: Sequence[str], options: PlanOptions) -> Plan:
    """The plan as far as it is known without models and required inputs.

    A task that lacks inputs keeps its templates, which are checked all the same; a model that nobody
    names is `UNNAMED_MODEL`.

    Raises: SpecError, EmptySelection.
    """
    return _plan(specs, options, is_check=True)


def _plan(specs: Sequence[str], options: PlanOptions, *, is_check: bool) -> Plan:
    problems = Problems()
    sources = read_sources(options, problems)
    members = selected(_checked(specs, options, problems), specs, options)
    note_unknown_inputs((member.task for member in members), options, problems)
    problems.raise_if_any()
    variants = [variants_of(member, sources, problems, is_check=is_check) for member in members]
    problems.raise_if_any()
    if not is_check:
        _require_models(variants, options)
    suites = list({id(member.suite): member.suite for member in members}.values())
    budget = _smallest([suite.spec.budget for suite in suites])
    return _joined(variants, budget, jobs_of(suites, sources), sources)


def _joined(
    variants: Sequence[Variants], budget: SuiteBudgetSpec, jobs: EffectiveValue, sources: Sources
) -> Plan:
    shows_model = len({model.value for each in variants for model in each.models}) > 1
    tasks = [task for each in variants for task in _planned(each, jobs, sources, shows_model=shows_model)]
    budgets = {
        group_of(each.member.suite, variant.site): budget_of(each.member.suite, variant.site.choice)
        for each in variants
        for variant in each.made
        if variant.site.choice is not None
    }
    return Plan(tuple(tasks), budget, jobs.value, budgets)


def adhoc_plan(prompt: str, options: PlanOptions) -> Plan:
    """One task, `exec`, in place in the current directory; its prompt is no template.

    Raises: SpecError, UsageError.
    """
    problems = Problems()
    sources = read_sources(options, problems)
    if not prompt.strip() or "\0" in prompt or not is_unicode(prompt):
        problems.add_plain("PROMPT", f"got {quoted(prompt)}, need UTF-8 text that is not blank")
    note_unknown_inputs((), options, problems)
    problems.raise_if_any()
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    source = Source("exec", options.cwd, digest, options.cwd)
    spec = TaskSpec(id="exec", prompt=prompt, workspace=WorkspaceSpec(isolation="none"))
    task = LoadedTask(spec, Fields(source, 1, ()), Where(), source, None)
    member = Member(task, Suite("exec"), digest)
    models = models_of(task, member.suite, sources)
    for model in models:
        route_of(task, model.value, sources)
    made = (Variant(Inputs({}, {}, is_complete=True), spec, Site(spec.workspace)),)
    variants = Variants(member, models, made, options.repeat or 1)
    _require_models([variants], options)
    return _joined([variants], SuiteBudgetSpec(), jobs_of((), sources), sources)


def _checked(specs: Sequence[str], options: PlanOptions, problems: Problems) -> tuple[Member, ...]:
    """All tasks with all that can be known without a choice of inputs. Raises: SpecError."""
    members = load_specs(specs, options.cwd, options.builtin_dir, problems)
    _note_unused_dimensions(members, problems)
    note_misfits(members, problems)
    problems.raise_if_any()
    return members


def _note_unused_dimensions(members: Sequence[Member], problems: Problems) -> None:
    """A matrix over an input that no task of the suite declares."""
    for suite in {id(member.suite): member.suite for member in members}.values():
        known = {name for member in members if member.suite is suite for name in member.task.spec.inputs}
        for name, values in suite.matrix.inputs.items():
            if name not in known and values:
                message = f"no task of the suite has an input of that name{nearest(name, [*known, 'model'])}"
                problems.add(values[0], suite.matrix.where[name], message)


def _planned(
    variants: Variants, jobs: EffectiveValue, sources: Sources, *, shows_model: bool
) -> Iterator[PlannedTask]:
    """A task's results, models first."""
    member, models = variants.member, variants.models
    task = member.task
    by_model = model_parts([model.value for model in models])
    by_inputs = inputs_parts(variants.made)
    for model in models:
        settings = settings_of(task, model, jobs, sources)
        for variant, inputs_part in zip(variants.made, by_inputs, strict=True):
            for repeat in range(1, variants.repeat + 1):
                key = result_key(
                    task.spec.id,
                    by_model[model.value] if len(models) > 1 else None,
                    inputs_part,
                    repeat if variants.repeat > 1 else None,
                    repo=variant.site.name or None,
                )
                planned = PlannedResult(
                    key,
                    task.spec.id,
                    task.spec.title,
                    task.source.name,
                    member.spec_sha256,
                    model.value,
                    member.suite.stem,
                    variant.inputs.shown,
                    repeat,
                    shows_model=shows_model,
                    shows_repeat=variants.repeat > 1,
                    tags=task.spec.tags,
                    repo=without_credentials(variant.spec.workspace.repo or ""),
                    ref=variant.spec.workspace.ref or "",
                    repo_name=variant.site.name,
                    digest=variants.digest,
                    edition=member.suite.spec.edition,
                )
                yield PlannedTask(
                    planned,
                    with_settings(variant.spec, settings),
                    str(task.directory),
                    model.value,
                    settings,
                    group_of(member.suite, variant.site),
                    virtual_models_of(task, sources),
                )


def _smallest(budgets: Sequence[SuiteBudgetSpec]) -> SuiteBudgetSpec:
    """Where several suites of a run set a limit, the smallest holds over the whole run."""
    limits = {}
    for name in SuiteBudgetSpec.__struct_fields__:
        given = [limit for budget in budgets if (limit := getattr(budget, name)) is not None]
        limits[name] = min(given, default=None)
    return SuiteBudgetSpec(**limits)


def _require_models(variants: Sequence[Variants], options: PlanOptions) -> None:
    """Raises: UsageError where a task has no model, saying every way to name one."""
    without = [each.member.task.spec.id for each in variants if not each.models]
    if without:
        raise UsageError(_no_model(f"task {without[0]!r}" if len(without) < len(variants) else "", options))


def _no_model(whom: str, options: PlanOptions) -> str:
    keys = listed(options.providers_with_keys)
    have = f"providers whose key is set: {keys}" if keys else "no provider's key is set"
    return (
        f"no model{' for ' + whom if whom else ''}: name one with -m PROVIDER/MODEL, model: in the spec, "
        f"PI_BATCH_MODEL, or model in [tool.pi-batch]; {have}; "
        "replay/SESSION.jsonl plays a recording and needs no key"
    )
