"""The manifest: every result that a plan promises, written before anything runs, and who makes it.

It is the same on every machine that plans the same command: `run --shard 2/4` needs nothing but its own
checkout. Shards come out alike in what they are expected to take, and the suite's budget is dealt out among
them, so that all of them together keep to it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from pi_batch import __version__
from pi_batch.errors import UsageError
from pi_batch.expected import Expected, shards
from pi_batch.results import BudgetAmounts, PlannedResult
from pi_batch.spec import Plan, PlannedTask, SuiteBudgetSpec
from pi_batch.struct_json import from_json, to_json

FILE: Final = "manifest.json"
VERSION: Final = 1
MAX_SHARDS: Final = 10_000

_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Shard(Struct, frozen=True):
    """One of several parts of a plan."""

    index: int
    """From 1."""
    count: int

    def __str__(self) -> str:
        """`2/4`."""
        return f"{self.index}/{self.count}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From `I/N`. Raises: UsageError."""
        found = _SHARD.fullmatch(text.strip())
        index, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= index <= count <= MAX_SHARDS:
            raise UsageError(f"--shard {text!r}: need I/N with 1 <= I <= N <= {MAX_SHARDS}, for example 2/4")
        return cls(index, count)


class ManifestTask(Struct, frozen=True):
    """One promised result."""

    planned: PlannedResult
    digest: str
    """SHA-256 of all that the trial is asked: spec with its templates filled in, model, tools."""
    shard: int
    """From 1."""
    expected_s: float
    """Seconds that it is expected to take."""


class Manifest(Struct, frozen=True):
    """A plan in parts."""

    pi_batch_version: str
    shards: int
    tasks: tuple[ManifestTask, ...]
    budgets: tuple[BudgetAmounts, ...]
    """One a shard; all together are the suite's."""
    budget: BudgetAmounts
    """The suite's."""
    version: int = VERSION

    @property
    def digest(self) -> str:
        """SHA-256 of everything in it."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()

    @property
    def by_key(self) -> Mapping[str, ManifestTask]:
        """Its tasks by their keys."""
        return {task.planned.key: task for task in self.tasks}

    def keys_of(self, shard: int) -> tuple[str, ...]:
        """The keys of one shard, in the plan's order."""
        return tuple(task.planned.key for task in self.tasks if task.shard == shard)

    def expected_s(self, shard: int) -> float:
        """Seconds that one shard's tasks are expected to take together."""
        return sum(task.expected_s for task in self.tasks if task.shard == shard)

    def part(self, plan: Plan, shard: int) -> Plan:
        """One shard of a plan: its tasks, under its share of the suite's budget."""
        keys = set(self.keys_of(shard))
        tasks = tuple(task for task in plan.tasks if task.planned.key in keys)
        return Plan(tasks, _as_spec(self.budgets[shard - 1]), plan.max_parallel)

    def to_text(self) -> str:
        """As it stands in its file."""
        return json.dumps(to_json(self), indent=1, ensure_ascii=False) + "\n"


def make_manifest(plan: Plan, digests: Sequence[str], count: int, expected: Expected) -> Manifest:
    """A plan in `count` parts; `digests` in the order of its tasks.

    Raises: UsageError where the suite's budget is too small to be dealt out, or a repository has its own.
    """
    plan.need_one_process("shards")
    seconds = [round(expected.seconds(task), 3) for task in plan.tasks]
    chosen = shards(seconds, count)
    tasks = tuple(
        ManifestTask(task.planned, digest, shard, cost_s)
        for task, digest, shard, cost_s in zip(plan.tasks, digests, chosen, seconds, strict=True)
    )
    budgets = _dealt_out(plan, chosen, seconds, count)
    return Manifest(__version__, count, tasks, budgets, _amounts(plan.budget))


def read_manifest(text: bytes, where: str) -> Manifest:
    """A manifest's file. Raises: UsageError, one line."""
    try:
        manifest: Manifest = from_json(Manifest, json.loads(text), where)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: is no manifest of pi-batch: {error}") from error
    keys = [task.planned.key for task in manifest.tasks]
    is_sound = (
        manifest.version == VERSION
        and 1 <= manifest.shards <= MAX_SHARDS
        and len(manifest.budgets) == manifest.shards
        and len(set(keys)) == len(keys)
        and all(_KEY.fullmatch(key) for key in keys)
        and all(1 <= task.shard <= manifest.shards for task in manifest.tasks)
    )
    if not is_sound:
        raise UsageError(
            f"{where}: is no manifest of this version of pi-batch: make it anew with pi-batch plan"
        )
    return manifest


def task_digest(asked: Any) -> str:
    """SHA-256 of what a trial is asked, as JSON."""
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def other_plan(manifest: Manifest, other: Manifest) -> str:
    """What another manifest plans otherwise, in a few words; empty: nothing."""
    if manifest.pi_batch_version != other.pi_batch_version:
        return f"was planned by pi-batch {other.pi_batch_version}, not {manifest.pi_batch_version}"
    mine, theirs = manifest.by_key, other.by_key
    for key in mine:
        if key not in theirs:
            return f"does not plan {key}"
    for key in theirs:
        if key not in mine:
            return f"plans {key}, which is foreign there"
        if mine[key].digest != theirs[key].digest:
            return f"has another digest of {key}: its spec, model or tools are not the same"
    return "" if manifest.budget == other.budget else "has another budget for the suite"


def unlike(manifest: Manifest, other: Manifest) -> str:
    """As `other_plan`, and what is dealt out otherwise."""
    if reason := other_plan(manifest, other):
        return reason
    if manifest.shards != other.shards:
        return f"is in {other.shards} shards, not in {manifest.shards}"
    if manifest.digest != other.digest:
        return "deals its tasks out otherwise: make all shards by one manifest (pi-batch plan --manifest)"
    return ""


def _dealt_out(
    plan: Plan, chosen: Sequence[int], seconds: Sequence[float], count: int
) -> tuple[BudgetAmounts, ...]:
    budget = plan.budget

    def parts(name: str, *, is_whole: bool) -> list[Any]:
        limit = getattr(budget, name)
        if limit is None:
            return [None] * count
        weights = _weights(plan.tasks, name, seconds)
        loads = [
            sum(w for w, s in zip(weights, chosen, strict=True) if s == one) for one in range(1, count + 1)
        ]
        return _shares(limit, loads, f"budget.{name}", chosen, is_whole=is_whole)

    turns, tokens = parts("turns", is_whole=True), parts("tokens", is_whole=True)
    calls, cost = parts("tool_calls", is_whole=True), parts("cost_usd", is_whole=False)
    return tuple(
        BudgetAmounts(turns[one], tokens[one], cost[one], budget.wall_s, calls[one]) for one in range(count)
    )


def _weights(tasks: Sequence[PlannedTask], name: str, seconds: Sequence[float]) -> Sequence[float]:
    """What each task may use of a dimension where all say so, else what they are expected to take."""
    limits = [getattr(task.spec.budget, name) for task in tasks]
    given = [limit for limit in limits if limit]
    return given if len(given) == len(limits) else seconds


def _shares(
    limit: float, loads: Sequence[float], name: str, chosen: Sequence[int], *, is_whole: bool
) -> list[float]:
    """A limit dealt out by loads; whole numbers come to the limit exactly. Raises: UsageError."""
    total = sum(loads) or 1.0
    if not is_whole:
        return [limit * load / total for load in loads]
    shares: list[float] = []
    reached, before = 0.0, 0
    for load in loads:
        reached += load
        upto = min(int(limit), int(limit * reached / total + 1e-9))
        shares.append(upto - before)
        before = upto
    if any(shares[shard - 1] < 1 for shard in set(chosen)):
        raise UsageError(f"the suite's {name} of {limit:g} is too small for {len(loads)} shards: make fewer")
    return shares


def _amounts(budget: SuiteBudgetSpec) -> BudgetAmounts:
    return BudgetAmounts(budget.turns, budget.tokens, budget.cost_usd, budget.wall_s, budget.tool_calls)


def _as_spec(amounts: BudgetAmounts) -> SuiteBudgetSpec:
    """A shard's budget; one without tasks has nothing to be limited."""
    limits = {name: getattr(amounts, name) for name in SuiteBudgetSpec.__struct_fields__}
    return SuiteBudgetSpec(**{name: limit for name, limit in limits.items() if limit or name == "cost_usd"})
