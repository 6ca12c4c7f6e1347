"""Shards made one run again: what may be merged, which attempt of a result counts, and the whole stream.

Strict: every part is of the same manifest, and holds only what its shard was given. Of a result that was made
more than once (a job that was run again) the newest attempt counts, whatever came of it; one that a signal
ended before it had a result gives way to one that has. The same parts in any order, and a merged run among
its own parts, give the same run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pi_batch import __version__
from pi_batch.events import BatchEnd, BatchStart, Record, TaskEnd, TaskStart, Warned
from pi_batch.manifest import Manifest, unlike

MAX_NAMED = 5
MISSING = " is missing: "

Kind = TypeVar("Kind")


class Attempts(Struct, frozen=True):
    """One run directory's records, sorted out."""

    name: str
    """As it was named."""
    manifest: Manifest
    shards: frozenset[int]
    """Which ones it holds."""
    by_key: Mapping[str, tuple[Record, ...]]
    of_run: tuple[Record, ...]
    """Records of the run as a whole."""

    @classmethod
    def of(cls, name: str, manifest: Manifest, shards: Iterable[int], records: Iterable[Record]) -> Attempts:
        """Sort the records of one run directory."""
        by_key: dict[str, list[Record]] = {}
        of_run: list[Record] = []
        for record in records:
            (of_run if record.key is None else by_key.setdefault(record.key, [])).append(record)
        kept = {key: tuple(each) for key, each in by_key.items()}
        return cls(name, manifest, frozenset(shards), kept, tuple(of_run))


def refusals(parts: Sequence[Attempts]) -> Iterator[str]:
    """Why these are not parts of one run, a line each."""
    first = parts[0]
    for part in parts:
        reason = unlike(first.manifest, part.manifest)
        if reason:
            yield f"{part.name}: is not of the same plan as {first.name}: it {reason}"
            continue
        given = {key for shard in part.shards for key in part.manifest.keys_of(shard)}
        foreign = [key for key in part.by_key if key not in given]
        if foreign:
            shards = ", ".join(str(shard) for shard in sorted(part.shards))
            yield f"{part.name}: holds what shard {shards} was not given: {_named(foreign)}"


def merged(parts: Sequence[Attempts]) -> Iterator[tuple[Record, Attempts | None]]:
    """The stream of the whole run, numbered anew, each record of a result with the part that it is from."""
    manifest = parts[0].manifest
    chosen = {task.planned.key: _newest(task.planned.key, parts) for task in manifest.tasks}
    counting = [part for part in parts if any(one is part for one in chosen.values())] or parts
    seq, started_at = 0, min(event.started_at for part in counting for event in _of_type(part, BatchStart))
    warnings = [Warned(text) for text in _warnings(counting, missing(parts))]
    beginning: list[BatchStart | Warned] = [_start(manifest, chosen, started_at), *warnings]
    for event in beginning:
        seq += 1
        yield Record(seq, started_at, None, event), None
    for key, part in chosen.items():
        for record in part.by_key[key] if part is not None else ():
            seq += 1
            yield replace(record, seq=seq), part
    is_whole = all(part is None or _is_ended(part.by_key[key]) for key, part in chosen.items())
    end = BatchEnd("complete" if is_whole else "interrupted", _duration_s(counting))
    yield Record(seq + 1, max(part.of_run[-1].at for part in counting), None, end), None


def missing(parts: Sequence[Attempts]) -> tuple[str, ...]:
    """What was planned and is nowhere, a line a shard."""
    manifest = parts[0].manifest
    held = {shard for part in parts for shard in part.shards}
    known = {key for part in parts for key in part.by_key}
    lines = []
    for shard in range(1, manifest.shards + 1):
        lost = [key for key in manifest.keys_of(shard) if key not in known]
        if lost:
            why = "not run" if shard in held else "no run directory was given"
            lines.append(f"shard {shard}/{manifest.shards}{MISSING}{why}: {_named(lost)}")
    return tuple(lines)


def _newest(key: str, parts: Sequence[Attempts]) -> Attempts | None:
    having = [part for part in parts if key in part.by_key]
    return max(having, key=lambda part: _age(part.by_key[key]), default=None)


def _age(records: Sequence[Record]) -> tuple[bool, str, int]:
    """Whether an attempt came to its end, when it was begun, and how far it got."""
    started_at = max((r.event.started_at for r in records if isinstance(r.event, TaskStart)), default="")
    return _is_settled(records), started_at, len(records)


def _is_ended(records: Sequence[Record]) -> bool:
    last = next((r.event for r in reversed(records) if isinstance(r.event, TaskStart | TaskEnd)), None)
    return isinstance(last, TaskEnd)


def _is_settled(records: Sequence[Record]) -> bool:
    """True when the last trial ended, and not by a signal."""
    last = next((r.event for r in reversed(records) if isinstance(r.event, TaskStart | TaskEnd)), None)
    return isinstance(last, TaskEnd) and (last.error is None or last.error.kind != "cancelled")


def _of_type(part: Attempts, kind: type[Kind]) -> list[Kind]:
    return [record.event for record in part.of_run if isinstance(record.event, kind)]


def _duration_s(parts: Sequence[Attempts]) -> float:
    """Of the part that took longest, over all its legs: the others ran beside it."""
    return max(round(sum(event.duration_s for event in _of_type(part, BatchEnd)), 3) for part in parts)


def _start(manifest: Manifest, chosen: Mapping[str, Attempts | None], started_at: str) -> BatchStart:
    """The beginning of the whole; its id is the same for the same results."""
    told = [f"{key} {_age(part.by_key[key])}" for key, part in chosen.items() if part is not None]
    digest = hashlib.sha256("\n".join([manifest.digest, *told]).encode()).hexdigest()
    planned = tuple(task.planned for task in manifest.tasks)
    return BatchStart(f"merged-{digest[:12]}", started_at, __version__, planned, manifest.budget)


def _warnings(counting: Sequence[Attempts], lost: Sequence[str]) -> list[str]:
    """What the parts said of themselves, once each, and what is missing."""
    said = {event.message for part in counting for event in _of_type(part, Warned)}
    return sorted(text for text in said if MISSING not in text) + list(lost)


def _named(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - MAX_NAMED} more" if len(keys) > MAX_NAMED else ""
    return ", ".join(keys[:MAX_NAMED]) + more
