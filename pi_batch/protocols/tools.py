"""What a model can call, and what a call may touch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from pi_batch.errors import ToolErrorKind
from pi_batch.messages import ImageBlock, TextBlock
from pi_batch.protocols.sandboxes import Sandbox


class ToolOutput(Struct, frozen=True):
    """What a tool gives back: `content` for the model, `details` for logs, `value` for scripts."""

    content: tuple[TextBlock | ImageBlock, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
    error_kind: ToolErrorKind | None = None
    value: Any = None
    """The structured result that codemode hands to a script; None: the text."""
    layers: tuple[str, ...] = ()
    """What held the code that the call ran, besides the task's sandbox; for the report."""


class OutputFile(Protocol):
    """A file in the task's outputs/, masked as it is written."""

    path: str
    """Absolute; what the model is told."""

    def write(self, data: bytes) -> None:
        """Append; beyond the file's own cap the rest is counted and dropped."""
        ...

    def close(self) -> None:
        """Flush."""
        ...


class ToolContext(Protocol):
    """What a tool may touch while one call runs."""

    sandbox: Sandbox
    workspace: str
    """Absolute real path of the workspace."""
    call_id: str
    env: Mapping[str, str]
    """The allow-listed environment for children."""
    scratch: str
    """A private directory of the task, outside the workspace, inside the sandbox."""
    is_inner: bool
    """True when a script asked: what a model could not read is no reason to give less then."""

    @property
    def seconds_left(self) -> float:
        """What the task's wall time leaves; infinite without a limit."""
        ...

    def open_output(self, suffix: str) -> OutputFile:
        """A new file in outputs/, named after this call."""
        ...

    async def resolve(self, path: str, *, for_writing: bool) -> str:
        """A model's path as an absolute real path inside the workspace (or, for reading, outputs/).

        Raises: ToolError when it lies outside or holds a NUL.
        """
        ...

    def update(self, text: str) -> None:
        """Show the last line of a call's output so far, masked: a live-only event."""
        ...

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Make an inner call through the same door as direct calls."""
        ...


class Tool(Protocol):
    """Something a model can call."""

    name: str
    description: str
    is_read_only: bool
    returns: str
    """What a script gets, as a Python annotation; behind a `#` what is in it."""

    @property
    def arguments(self) -> type[Struct]:
        """Its JSON Schema is what the model sees; see `pi_batch.arguments`."""
        ...

    def written_paths(self, arguments: Any) -> tuple[str, ...]:
        """Paths as the model spelled them, for queueing writers by real path; bash: ()."""
        ...

    async def run(self, arguments: Any, context: ToolContext) -> ToolOutput:
        """Carry the call out. Raises: ToolError with the text that the model will read."""
        ...
