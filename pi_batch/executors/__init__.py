"""Where trials are carried out: the table from executor name to class, imported when first used."""

from __future__ import annotations

import importlib
from typing import Any

from pi_batch.errors import UsageError

TABLE = {
    "local": "pi_batch.executors.local:Local",
    "dask": "pi_batch.executors.dask:Dask",
}
"""Executor name -> "module:Class"."""


def load(name: str) -> type[Any]:
    """The class of an executor. Raises: UsageError for a name that has none."""
    if name not in TABLE:
        raise UsageError(f"executor {name!r}: unknown; known are {', '.join(sorted(TABLE))}")
    module, _, attribute = TABLE[name].partition(":")
    loaded: type[Any] = getattr(importlib.import_module(module), attribute)
    return loaded
