"""What a word of `compare` and of leaderboards names: a run directory, a run.json, or one model of either."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import UsageError
from pi_batch.event_log import read_log
from pi_batch.fold import fold
from pi_batch.results import SCHEMA_VERSION, BatchResult
from pi_batch.statistics.trials import Entrant, entrants_of
from pi_batch.struct_json import from_json
from pi_batch.wiring.run_lock import is_held
from pi_batch.wording import listed, nearest, printable, quoted


class Source(Struct, frozen=True):
    """A word of the command line, read."""

    word: str
    entrants: tuple[Entrant, ...]


def read_source(word: str) -> Source:
    """The models that a word names: PATH, or PATH:MODEL. Raises: UsageError."""
    path, model = split_word(word)
    batch = read_run(path)
    found = entrants_of(batch, printable(str(path)))
    if not found:
        raise UsageError(f"{printable(str(path))}: the run has no results and planned none")
    if not model:
        return Source(word, found)
    chosen = [one for one in found if one.model == model]
    chosen = chosen or [one for one in found if one.model.endswith(f"/{model}")]
    if len(chosen) != 1:
        names = [one.model for one in found]
        what = "several models of that name" if chosen else f"no model of that name{nearest(model, names)}"
        raise UsageError(f"{printable(word)}: {what}; the run has {listed(names)}")
    return Source(word, tuple(chosen))


def read_run(path: Path) -> BatchResult:
    """A run from its directory or its run.json. Raises: UsageError.

    A directory's run.json is taken where it says that the run is complete; else the log knows more.
    """
    if not path.is_dir():
        return _read_json(path)
    log, report = path / "events.jsonl", path / "run.json"
    batch = _read_json(report) if report.is_file() else None
    if batch is not None and (batch.status == "complete" or not log.is_file()):
        return batch
    if not log.is_file():
        raise UsageError(
            f"{printable(str(path))}: no run.json and no events.jsonl there: name a run's directory"
        )
    batch = fold(read_log(log), is_over=not is_held(path))
    if not batch.run_id:
        raise UsageError(f"{printable(str(log))}: holds no run: it ended before the first event was written")
    return batch


def split_word(word: str) -> tuple[Path, str]:
    """PATH and MODEL; a path may hold colons, and so may a model. Raises: UsageError."""
    if _is_there(word):
        return Path(word), ""
    for colon in re.finditer(":", word):
        path, model = word[: colon.start()], word[colon.end() :]
        if path and model and _is_there(path):
            return Path(path), model
    raise UsageError(
        f"{quoted(word)}: no such run: need a run's directory, its run.json, or either with :MODEL"
    )


def _is_there(path: str) -> bool:
    try:
        return bool(path) and Path(path).exists()
    except (OSError, ValueError):  # too long a name, a NUL
        return False


def _read_json(path: Path) -> BatchResult:
    """Raises: UsageError."""
    name = printable(str(path))
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: no JSON: {error}") from error
    if not isinstance(value, dict) or "results" not in value or "planned" not in value:
        raise UsageError(f"{name}: no run.json of pi-batch: it has no planned and results")
    version = value.get("schema_version")
    if version != SCHEMA_VERSION:
        raise UsageError(f"{name}: got schema_version {version!r:.40}, need {SCHEMA_VERSION}")
    try:
        batch: BatchResult = from_json(BatchResult, value, name)
    except (ValueError, RecursionError) as error:
        raise UsageError(str(error)) from error
    return batch


def pairs_of(sources: Sequence[Source]) -> tuple[tuple[Entrant, Entrant], ...]:
    """Which is compared with which: the first source is the baseline of all others.

    One model each: those. The same models in both: each with itself. One source alone: its first model with
    its others. Raises: UsageError where that is not clear, with how to say it.
    """
    first, *others = sources
    if not others:
        if len(first.entrants) < 2:
            raise UsageError(
                f"{printable(first.word)}: one model alone: name a second run, or a run with several"
            )
        return tuple((first.entrants[0], other) for other in first.entrants[1:])
    pairs: list[tuple[Entrant, Entrant]] = []
    for other in others:
        pairs += _paired(first, other)
    return tuple(pairs)


def _paired(a: Source, b: Source) -> list[tuple[Entrant, Entrant]]:
    if len(a.entrants) == len(b.entrants) == 1:
        return [(a.entrants[0], b.entrants[0])]
    baseline = {one.model: one for one in a.entrants}
    models = {one.model for one in b.entrants}
    if models != baseline.keys():
        source = a if len(a.entrants) > 1 else b
        raise UsageError(
            f"{printable(a.word)} and {printable(b.word)} have not the same models: say which, "
            f"as {printable(source.word)}:MODEL, of {listed(one.model for one in source.entrants)}"
        )
    return [(baseline[one.model], one) for one in b.entrants]
