"""What a script's host and a script's worker say to each other, as values.

Plain dataclasses and the standard library only: the worker imports this module too, and must start fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct, field

MAX_SOURCE_BYTES = 256 * 1024
MAX_CALLS = 1000
MAX_CALLS_AT_ONCE = 16
MAX_OUTPUT_CHARS = 16 * 1024 * 1024
MAX_ERROR_CHARS = 8000
MAX_STORE_VALUE_CHARS = 256 * 1024
MAX_STORE_CHARS = 1024 * 1024
MAX_STORE_KEY_CHARS = 200
DEFAULT_TIMEOUT_S = 120.0
MAX_TIMEOUT_S = 600.0
MAX_CPU_S = 30
MAX_MEMORY_BYTES = 512 * 1024 * 1024
"""Of a script, beyond what its worker has at the start."""


class ToolSignature(Struct, frozen=True):
    """A tool as a script sees it."""

    name: str
    parameters: tuple[str, ...]
    """Argument names in signature order: positional arguments are taken in this order."""
    required: tuple[str, ...]
    signature: str
    """As Python, e.g. `read(path: str, offset: int | None = None) -> str`."""
    description: str
    """The declaration's description."""


class ScriptRequest(Struct, frozen=True):
    """One script to run."""

    source: str
    tools: tuple[ToolSignature, ...]
    """What a script may call; `codemode` itself is never among them."""
    store: Mapping[str, Any] = field(default_factory=dict)
    """JSON values that earlier scripts of this task kept."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Wall time, tool calls included; the host holds it, the worker's CPU limit is the backstop."""
    max_calls: int = MAX_CALLS
    max_calls_at_once: int = MAX_CALLS_AT_ONCE


class CallReply(Struct, frozen=True):
    """How a tool call of a script ended."""

    call_id: int
    value: Any = None
    """JSON; an image is `{"type": "image", "data": BASE64, "mimeType": TYPE}`."""
    error: str | None = None
    """The text of the `ToolError` that the script gets; None when the call succeeded."""
    error_kind: str | None = None


class ScriptError(Struct, frozen=True):
    """What ended a script early."""

    type: str
    """The exception's class name, or `Refused` when the policy did not let the script start."""
    text: str
    """For the model: what, at which line, and what to write instead; with the source line and a caret."""
    line: int | None = None
    """From 1, in the script as it was sent."""


class ScriptEnd(Struct, frozen=True):
    """How a script ended."""

    status: Literal["completed", "failed"]
    value: Any = None
    """What `return` gave, as JSON; None without one."""
    has_value: bool = False
    error: ScriptError | None = None
    store: Mapping[str, Any] | None = None
    """All kept values, only when it completed and changed any."""
    notes: tuple[str, ...] = ()
    """For the model, one line each: calls that nobody awaited, and the like."""


class ScriptHost(Protocol):
    """The world as a script sees it; the worker implements it over its socket, tests with a fake."""

    def call(self, call_id: int, name: str, arguments: Mapping[str, Any]) -> None:
        """Start a tool call; its reply comes through `receive`. Ids rise by one from 1."""
        ...

    def drop(self, call_id: int) -> None:
        """End a call whose result nobody waits for; its reply comes all the same, as an error."""
        ...

    def output(self, text: str) -> None:
        """A piece of what the script prints."""
        ...

    def image(self, data: str, mime_type: str) -> None:
        """An image for the model, base64."""
        ...

    def receive(self, timeout_s: float | None) -> CallReply | None:
        """Wait for the next reply; None when the time is over first."""
        ...
