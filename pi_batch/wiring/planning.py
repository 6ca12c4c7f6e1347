"""From flags, environment and config file to a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pi_batch.load.config import Config, load_config
from pi_batch.load.options import PlanOptions
from pi_batch.load.plan import adhoc_plan, load_plan
from pi_batch.load.plan import check_specs as check
from pi_batch.spec import Plan
from pi_batch.wiring.models import providers_with_keys
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.surroundings import Surroundings


def plan_options(options: RunOptions, around: Surroundings) -> PlanOptions:
    """The flags with everything that stands behind them. Raises: UsageError."""
    is_distrusted = "untrusted" in (options.trust, around.environ.get("PI_BATCH_TRUST", "").strip())
    return PlanOptions(
        cwd=around.cwd,
        models=options.models,
        inputs=options.inputs,
        filter=options.filters,
        repeat=options.repeat,
        max_turns=options.max_turns,
        max_tokens=options.max_tokens,
        max_cost_usd=options.max_cost_usd,
        max_wall_s=options.max_wall_s,
        sandbox=options.sandbox,
        sandbox_image=options.sandbox_image,
        sandbox_required=options.sandbox_required,
        trust=options.trust,
        codemode=options.codemode,
        thinking=options.thinking,
        jobs=options.jobs,
        environ={name: value for name, value in around.environ.items() if name.startswith("PI_BATCH_")},
        config=Config() if is_distrusted else load_config(around.cwd),
        providers_with_keys=providers_with_keys(around),
    )


def make_plan(specs: Sequence[str], options: RunOptions, around: Surroundings) -> Plan:
    """The plan of a run. Raises: SpecError, UsageError, EmptySelection."""
    return load_plan(specs, plan_options(options, around))


def make_adhoc_plan(prompt: str, options: RunOptions, around: Surroundings) -> Plan:
    """The plan of one prompt. Raises: UsageError."""
    return adhoc_plan(prompt, plan_options(options, around))


def plan_specs(specs: Sequence[str], inputs: Mapping[str, str], flags: Mapping[str, Any]) -> Plan:
    """`pi-batch plan`: the plan that `run` would carry out with the same flags."""
    return make_plan(specs, RunOptions(inputs=inputs, **flags), Surroundings.of_process())


def check_specs(specs: Sequence[str], inputs: Mapping[str, str], flags: Mapping[str, Any]) -> Plan:
    """`pi-batch validate`: the same, but no model needs to be named."""
    around = Surroundings.of_process()
    return check(specs, plan_options(RunOptions(inputs=inputs, **flags), around))
