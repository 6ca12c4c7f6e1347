"""What a model can call: one file a tool, found through this table."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pi_batch.protocols import Tool
    from pi_batch.spec import PathRules

TABLE = {
    "read": "pi_batch.tools.read:Read",
    "write": "pi_batch.tools.write:Write",
    "edit": "pi_batch.tools.edit:Edit",
    "bash": "pi_batch.tools.bash:Bash",
    "grep": "pi_batch.tools.grep:Grep",
    "find": "pi_batch.tools.find:Find",
    "ls": "pi_batch.tools.ls:Ls",
    "think": "pi_batch.tools.think:Think",
}
"""Name -> "module:Class"; a tool's class takes no argument but the read rules of those in READING."""

READING = frozenset({"read", "grep", "find", "ls"})
"""Tools that show what rules may hide; their class takes the PathRules of `permissions.read`."""


def load(name: str) -> type[Tool]:
    """The class of a tool. Raises: KeyError for a name that is not in the table."""
    module, _, attribute = TABLE[name].partition(":")
    return cast("type[Tool]", getattr(importlib.import_module(module), attribute))


def make(names: Iterable[str], read_rules: PathRules) -> dict[str, Tool]:
    """Tools of one task by name, those that read bound to what may be read."""
    tools: dict[str, Tool] = {}
    for name in names:
        make_one = load(name)
        tools[name] = make_one(read_rules) if name in READING else make_one()  # type: ignore[call-arg]
    return tools
