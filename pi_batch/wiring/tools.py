"""The tools that a task gets, as objects and as declarations."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from pi_batch import tools
from pi_batch.codemode.runner import OnCall, OnImage, OnOutput, ScriptRunner
from pi_batch.codemode.signatures import tool_signature
from pi_batch.codemode.store import ScriptStore
from pi_batch.codemode.tool import Codemode
from pi_batch.codemode.values import ScriptEnd, ScriptRequest, ToolSignature
from pi_batch.errors import SandboxError
from pi_batch.messages import ToolDeclaration
from pi_batch.protocols import Tool
from pi_batch.spec import PathRules, TaskSpec
from pi_batch.tools.declare import declaration


class TaskTools(Struct, frozen=True):
    """A task's tools, as they are run and as they are declared."""

    by_name: Mapping[str, Tool]
    declarations: tuple[ToolDeclaration, ...]
    script_only: frozenset[str] = frozenset()
    """Those that only scripts may call: they are not declared."""


def tools_of(spec: TaskSpec, runner: ScriptRunner | None, store: ScriptStore | None = None) -> TaskTools:
    """A task's tools in the spec's order, scripts last; without a runner there are none."""
    names = [name for name in spec.tools if name in tools.TABLE]
    made = tools.make(names, spec.permissions.read)
    if runner is None:
        return TaskTools(made, tuple(declaration(tool) for tool in made.values()))
    is_only_way = spec.codemode == "only"
    codemode = Codemode(runner, signatures(made), store, is_only_way=is_only_way)
    every: dict[str, Tool] = {**made, codemode.name: codemode}
    declared = [codemode] if is_only_way else list(every.values())
    return TaskTools(
        every,
        tuple(declaration(tool) for tool in declared),
        frozenset(made) if is_only_way else frozenset(),
    )


def signatures(made: Mapping[str, Tool]) -> tuple[ToolSignature, ...]:
    """Tools as scripts see them."""
    return tuple(tool_signature(declaration(tool), tool.returns) for tool in made.values())


def all_tools() -> tuple[tuple[ToolDeclaration, ...], tuple[ToolSignature, ...]]:
    """Every tool of this version as a model sees it, and as a script does."""
    made = tools.make(tools.TABLE, PathRules())
    functions = signatures(made)
    every: list[Tool] = [*made.values(), Codemode(Unavailable(), functions)]
    return tuple(declaration(tool) for tool in every), functions


class Unavailable:
    """Stands where a script runner is only described."""

    layers: tuple[str, ...] = ()

    async def run(
        self, request: ScriptRequest, on_call: OnCall, on_output: OnOutput, on_image: OnImage
    ) -> ScriptEnd:
        """Raises: SandboxError, always."""
        raise SandboxError("codemode: nothing runs scripts here")
