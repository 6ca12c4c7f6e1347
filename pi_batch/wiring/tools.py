"""The tools that a task gets, as objects and as declarations."""

from __future__ import annotations

from pi_batch import tools
from pi_batch.messages import ToolDeclaration
from pi_batch.protocols import Tool
from pi_batch.spec import PathRules, TaskSpec
from pi_batch.tools.declare import declaration


def tools_of(spec: TaskSpec) -> dict[str, Tool]:
    """A task's tools by name, in the spec's order; those of later versions are left out."""
    names = [name for name in spec.tools if name in tools.TABLE]
    return tools.make(names, spec.permissions.read)


def all_declarations() -> tuple[ToolDeclaration, ...]:
    """Every tool of this version as a model sees it."""
    made = tools.make(tools.TABLE, PathRules())
    return tuple(declaration(tool) for tool in made.values())
