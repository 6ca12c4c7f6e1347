"""A plan in parts: `pi-batch plan --shards`, and one part of it for `run --shard`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import LogWriteError, UsageError
from pi_batch.expected import Expected
from pi_batch.files import write_atomic
from pi_batch.manifest import FILE, Manifest, Shard, make_manifest, other_plan, read_manifest
from pi_batch.redact import Masker
from pi_batch.spec import Plan
from pi_batch.standard_streams import say
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.recorded import expected_from
from pi_batch.wiring.stored_plan import Origin, Storing


class Part(Struct, frozen=True):
    """What one process carries out of a plan."""

    plan: Plan
    manifest: Manifest | None = None
    """None: the plan is whole."""


def show_shards(
    plan: Plan, count: int, recorded: Sequence[Path], target: Path | None, *, as_json: bool
) -> int:
    """`pi-batch plan --shards`: make the manifest, keep it where that is asked for, and print it.

    Raises: UsageError, LogWriteError.
    """
    cwd = Path.cwd()
    for run_dir in recorded:
        if not (run_dir / "run.json").is_file():
            raise UsageError(f"--durations {run_dir}: no run.json there: name the directory of a run")
    manifest = _manifest(plan, cwd, count, expected_from(recorded))
    if target is not None:
        save_manifest(target, manifest)
    say(manifest.to_text() if as_json else "".join(f"{line}\n" for line in _lines(manifest)))
    return 0


def _lines(manifest: Manifest) -> Iterator[str]:
    """`shard 1/4: 12 results, 340 s expected, at most 100,000 tokens, 1.25 usd`."""
    for shard, budget in enumerate(manifest.budgets, start=1):
        count = len(manifest.keys_of(shard))
        noun = "result" if count == 1 else "results"
        limits = (("turns", budget.turns), ("tokens", budget.tokens), ("usd", budget.cost_usd))
        given = ", ".join(f"{value:,.10g} {name}" for name, value in limits if value is not None)
        most = f", at most {given}" if given else ""
        seconds = f"{manifest.expected_s(shard):,.0f} s"
        yield f"shard {shard}/{manifest.shards}: {count} {noun}, {seconds} expected{most}"


def part_of(plan: Plan, options: RunOptions, cwd: Path, *, run_dir: Path | None = None) -> Part:
    """The part of a plan that `--shard` names; a run that is gone on with keeps to its own manifest.

    Raises: UsageError.
    """
    if options.shard is None:
        if options.manifest is not None:
            raise UsageError("--manifest: needs --shard I/N")
        return Part(plan)
    shard = Shard.parse(options.shard)
    known = _kept(run_dir)
    if known is None:
        known = _manifest(plan, cwd, shard.count, Expected())
        if options.manifest is not None:
            known = _as_given(cwd / options.manifest, known)
    if known.shards != shard.count:
        raise UsageError(f"--shard {shard}: the manifest has {known.shards} shards")
    return Part(known.part(plan, shard.index), known)


def load_manifest(path: Path) -> Manifest:
    """A manifest's file. Raises: UsageError."""
    try:
        return read_manifest(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


def save_manifest(path: Path, manifest: Manifest) -> None:
    """Write it whole. Raises: LogWriteError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogWriteError(f"{path.parent}: cannot be made: {error.strerror or error}") from error
    write_atomic(path, manifest.to_text().encode("utf-8", "replace"))


def _kept(run_dir: Path | None) -> Manifest | None:
    return load_manifest(run_dir / FILE) if run_dir is not None and (run_dir / FILE).is_file() else None


def _as_given(path: Path, own: Manifest) -> Manifest:
    """A manifest that was made elsewhere, of this very plan. Raises: UsageError where it is of another."""
    given = load_manifest(path)
    reason = other_plan(given, own)
    if reason:
        raise UsageError(f"{path}: is not of this plan: what is here {reason}")
    return given


def _manifest(plan: Plan, cwd: Path, count: int, expected: Expected) -> Manifest:
    storing = Storing("", cwd, Origin("run", ()), RunOptions(), {}, Masker(()))
    digests = [task.digest for task in storing.of(plan, cwd).tasks]
    return make_manifest(plan, digests, count, expected)
