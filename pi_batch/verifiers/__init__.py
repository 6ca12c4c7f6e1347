"""How work is judged: one file a way, found through this table."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
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


class _Made(dict[str, "Verifier"]):
    """Verifiers by name, each loaded when it is first asked for: most tasks use one of them, or none."""

    def __missing__(self, name: str) -> Verifier:
        made = self[name] = load(name)()
        return made


def make_all() -> Mapping[str, Verifier]:
    """The verifiers of one task, by name. Looking one up raises: KeyError for a name not in the table."""
    return _Made()
