"""What one task of a suite is to run as: in each place, with each choice of inputs, by each model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.load.hidden import checked_digest
from pi_batch.load.inputs import Inputs, resolve_inputs
from pi_batch.load.keys import input_parts
from pi_batch.load.problems import Problems
from pi_batch.load.render import render_task
from pi_batch.load.repositories import Site, note_distrusted, site_of
from pi_batch.load.selection import places
from pi_batch.load.settings import Sources, models_of, repeat_of, route_of, trust_of
from pi_batch.load.suite import Member, Suite
from pi_batch.results import EffectiveValue
from pi_batch.spec import TaskSpec
from pi_batch.templates import Values

MAX_RESULTS: Final = 10_000
"""Of one task: beyond it a matrix or a repeat was not meant."""
UNNAMED_MODEL: Final = "unnamed/unnamed"
"""Stands in a checked plan where a run would need -m."""


class Variant(Struct, frozen=True):
    """A task with one choice of inputs, in one place."""

    inputs: Inputs
    spec: TaskSpec
    """Rendered."""
    site: Site


class Variants(Struct, frozen=True):
    """What one task runs as: each of the models with each of the variants, so many times."""

    member: Member
    models: tuple[EffectiveValue, ...]
    made: tuple[Variant, ...]
    repeat: int
    digest: str = ""
    """Of a benchmark task's files."""


def variants_of(member: Member, sources: Sources, problems: Problems, *, is_check: bool) -> Variants:
    """Everything that a task is to run as; what is wrong is noted."""
    task, suite, options = member.task, member.suite, sources.options
    models = models_of(task, suite, sources)
    if is_check and not models:
        models = (EffectiveValue(UNNAMED_MODEL, "default"),)
    models = tuple(model for model in models if _leads_somewhere(member, model, sources, problems))
    repeat = repeat_of(suite, sources)
    varying = frozenset(task.spec.inputs) - frozenset(options.inputs)
    choices = places(suite, options.filter)
    count = max(1, len(models)) * len(choices) * suite.matrix.count(varying) * repeat
    if count > MAX_RESULTS:
        what = "models x inputs x repeat" if choices == (None,) else "models x repositories x inputs x repeat"
        message = f"makes {count} results ({what}), need at most {MAX_RESULTS}"
        problems.add(task.node, task.where, message)
        return Variants(member, models, (), repeat)
    made = [
        variant
        for choice in choices
        for variant in _made(member, site_of(task, choice), varying, sources, problems, is_check=is_check)
    ]
    return Variants(member, models, tuple(made), repeat, checked_digest(task, problems))


def _leads_somewhere(member: Member, model: EffectiveValue, sources: Sources, problems: Problems) -> bool:
    """False, and noted where it is written, for a virtual model or a fallback that leads nowhere."""
    task = member.task
    try:
        route_of(task, model.value, sources)
    except UsageError as error:
        node = task.at("model") if model.source in ("spec", "suite") else None
        problems.add(node or task.node, task.where, str(error))
        return False
    return True


def _made(
    member: Member,
    site: Site,
    varying: frozenset[str],
    sources: Sources,
    problems: Problems,
    *,
    is_check: bool,
) -> Iterator[Variant]:
    """A task in one place, once for each choice of inputs there."""
    suite, options = member.suite, sources.options
    task = replace(member.task, spec=replace(member.task.spec, workspace=site.workspace))
    if trust_of(task, sources).value == "untrusted":
        note_distrusted(task, site, problems)
    own = site.choice.inputs if site.choice else {}
    matrix = suite.matrix
    if site.choice:
        places = {name: site.choice.where.down("inputs").down(name) for name in own}
        matrix = replace(matrix, where={**matrix.where, **places})
    fixed = {name: node for name, node in own.items() if name in varying}
    for varied in matrix.combinations(varying - fixed.keys()):
        inputs = resolve_inputs(task, {**varied, **fixed}, matrix, options, problems, is_check=is_check)
        if inputs and inputs.is_complete:
            yield Variant(inputs, render_task(task, _values(member, inputs), problems), site)
        elif inputs:
            yield Variant(inputs, task.spec, site)


def _values(member: Member, inputs: Inputs) -> Values:
    spec = member.task.spec
    matrix = {name: inputs.values[name] for name in member.suite.matrix.inputs if name in inputs.values}
    return Values(inputs.values, {"id": spec.id, "title": spec.title}, matrix)


def inputs_parts(made: Sequence[Variant]) -> list[str | None]:
    """For each variant its inputs' part of the key; None where its place has no others."""
    parts: list[str | None] = []
    for _, each in itertools.groupby(made, lambda variant: variant.site.name):
        shown = [variant.inputs.shown for variant in each]
        parts += input_parts(shown) if len(shown) > 1 else [None]
    return parts


def group_of(suite: Suite, site: Site) -> str:
    """Which tasks share a repository's budget."""
    return f"{suite.stem}/{site.name}" if site.choice else ""
