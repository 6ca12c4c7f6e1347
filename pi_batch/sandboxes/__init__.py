"""Where a task's commands run and its files are: one file a sandbox, found through these tables."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_batch.protocols import Sandbox

TABLE = {
    "bwrap": "pi_batch.sandboxes.bwrap:bwrap",
    "landlock": "pi_batch.sandboxes.landlock:landlock",
    "docker": "pi_batch.sandboxes.container:docker",
    "podman": "pi_batch.sandboxes.container:podman",
    "none": "pi_batch.sandboxes.none:NoneSandbox",
}
"""Name -> "module:maker", strongest first, for the names that a spec may give; takes a SandboxPlace."""

FAKES = {
    "fake": "pi_batch.sandboxes.fake:FakeSandbox",
}
"""The same, for tests alone: conformance runs over both tables, specs are offered only the first."""


def load(name: str) -> Callable[..., Sandbox]:
    """What makes a sandbox, fakes included. Raises: KeyError for a name that is in no table."""
    module, _, attribute = {**FAKES, **TABLE}[name].partition(":")
    return cast("Callable[..., Sandbox]", getattr(importlib.import_module(module), attribute))
