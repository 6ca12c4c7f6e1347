"""Plans in parts for tests, and run directories as `run --shard` leaves them, made without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import convert

from pi_batch.event_log import encode_record, header_line
from pi_batch.events import Record, TaskStart, WorkspaceReady
from pi_batch.expected import Expected
from pi_batch.manifest import FILE, Manifest, make_manifest
from pi_batch.merging import Attempts
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts, RunError, SandboxReport
from pi_batch.spec import Plan, SuiteBudgetSpec
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.stored_plan import Origin, Storing, write_plan
from tests.engine.tasks import planned
from tests.streams import Stream

CANCELLED = RunError("cancelled", "cancelled while it ran")


def plan_of(*keys: str, budget: Mapping[str, Any] | None = None, **fields: Any) -> Plan:
    """A plan of tasks of one line."""
    tasks = tuple(planned(key, Path("/s"), **fields) for key in keys)
    return Plan(tasks, convert(budget or {}, SuiteBudgetSpec))


def manifest_of(
    *keys: str, shards: int = 2, budget: Mapping[str, Any] | None = None, **fields: Any
) -> Manifest:
    """Its manifest: tasks in turn, as all are expected to take as long."""
    plan = plan_of(*keys, budget=budget, **fields)
    return make_manifest(plan, [f"digest of {key}" for key in keys], shards, Expected())


def ran(
    manifest: Manifest,
    shard: int,
    *,
    passed: Mapping[str, bool | None] | None = None,
    day: int = 1,
    status: int | None = None,
) -> list[Record]:
    """The log of one shard, begun on a day; of a task that is None the end is by a signal."""
    keys = manifest.keys_of(shard)
    stream = Stream(*(manifest.by_key[key].planned for key in keys))
    for key in keys if passed is None else passed:
        is_green = True if passed is None else passed[key]
        ready = WorkspaceReady("/ws", "/src", None, None, SandboxReport("none"), f"tasks/{key}/session.jsonl")
        start = TaskStart(f"2026-01-{day:02}T00:00:00.000Z", BudgetAmounts(), {}, has_checks=True)
        stream.add(key, start, ready).agent(key)
        if is_green is None:
            stream.end(key, error=CANCELLED)
        else:
            stream.check(key, passed=is_green).end(key)
    return stream.finish(status).records


def part(name: str, manifest: Manifest, shard: int, **fields: Any) -> Attempts:
    """One shard as it is merged."""
    return Attempts.of(name, manifest, [shard], ran(manifest, shard, **fields))


def write_run(run_dir: Path, manifest: Manifest, shard: int, records: Sequence[Record]) -> Path:
    """A shard's run directory: plan, manifest, log, and a file of each task."""
    run_dir.mkdir(parents=True)
    (run_dir / FILE).write_text(manifest.to_text(), encoding="utf-8")
    lines = [header_line(), *(encode_record(record, live=False) for record in records)]
    (run_dir / "events.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    options = RunOptions(shard=f"{shard}/{manifest.shards}")
    storing = Storing("r", Path("/w"), Origin("run", ("s.yaml",)), options, {}, Masker(()))
    write_plan(run_dir, storing.of(plan_of(), Path("/tmp/pi-batch-x")))
    for key in {record.key for record in records if record.key is not None}:
        (run_dir / "tasks" / key).mkdir(parents=True)
        (run_dir / "tasks" / key / "answer.md").write_text(f"{key} of {run_dir.name}\n", encoding="utf-8")
    return run_dir
