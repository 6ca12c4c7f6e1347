"""How work is judged: one file a way, found through this table."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pi_batch.protocols import Verifier

TABLE = {
    "command": "pi_batch.verifiers.command:Command",
    "files": "pi_batch.verifiers.files:Files",
    "schema": "pi_batch.verifiers.schema:Schema",
    "fake": "pi_batch.verifiers.fake:Fake",
}
"""Name -> "module:Class"; every class takes no argument."""


def load(name: str) -> type[Verifier]:
    """The class of a verifier. Raises: KeyError for a name that is not in the table."""
    module, _, attribute = TABLE[name].partition(":")
    return cast("type[Verifier]", getattr(importlib.import_module(module), attribute))


def make_all() -> dict[str, Verifier]:
    """The verifiers that a task's own checks use, by name."""
    return {name: load(name)() for name in TABLE if name != "fake"}
