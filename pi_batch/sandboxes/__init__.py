"""Where a task's commands run and its files are: one file a sandbox, found through these tables."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pi_batch.protocols import Sandbox

TABLE = {
    "none": "pi_batch.sandboxes.none:NoneSandbox",
}
"""Name -> "module:Class", for the names that a spec may give; a class takes no argument that it needs."""

FAKES = {
    "fake": "pi_batch.sandboxes.fake:FakeSandbox",
}
"""The same, for tests alone: conformance runs over both tables, specs are offered only the first."""


def load(name: str) -> type[Sandbox]:
    """The class of a sandbox, fakes included. Raises: KeyError for a name that is in no table."""
    module, _, attribute = {**FAKES, **TABLE}[name].partition(":")
    return cast("type[Sandbox]", getattr(importlib.import_module(module), attribute))
