"""A `BatchResult` without known secret values, before anything is cut, escaped or encoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.redact import Masker
from pi_batch.reports.kept import Kept
from pi_batch.results import BatchResult, PlannedResult, RunResult

CLOSED_FIELDS = frozenset({"outcome", "stop", "status", "kind"})
"""Closed sets of our own words: a secret that happens to be one of them hides nothing here."""


class BatchMask:
    """`masked` for a batch that is shown again after every task: what has not changed is kept."""

    def __init__(self, mask: Masker | None) -> None:
        self._mask = mask
        self._results = Kept[RunResult]()
        self._planned = Kept[PlannedResult]()

    def __call__(self, batch: BatchResult) -> BatchResult:
        """The same results with every secret value as `***`."""
        mask = self._mask
        if mask is None or mask.is_empty:
            return batch
        return replace(
            masked(replace(batch, results=(), planned=()), mask),
            results=tuple(self._results.each(batch.results, lambda result: _masked(result, mask))),
            planned=tuple(self._planned.each(batch.planned, lambda planned: _masked(planned, mask))),
        )


def masked(batch: BatchResult, mask: Masker | None) -> BatchResult:
    """The same results with every secret value as `***`."""
    if mask is None or mask.is_empty:
        return batch
    result: BatchResult = _masked(batch, mask)
    return result


def _masked(value: Any, mask: Masker) -> Any:
    match value:
        case str():
            return mask.mask(value)
        case Mapping():
            return {_masked(key, mask): _masked(item, mask) for key, item in value.items()}
        case tuple() | list():
            return type(value)(_masked(item, mask) for item in value)
        case Struct():
            names = [name for name in value.__struct_fields__ if name not in CLOSED_FIELDS]
            return replace(value, **{name: _masked(getattr(value, name), mask) for name in names})
        case _:
            return value
