"""`tools.NAME(...)`: a call that starts at once and is awaited, and errors for what models forget."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final

from pi_batch.codemode.script.host import READABLE, HostFunction, readable
from pi_batch.codemode.script.plain import NotPlain, strict
from pi_batch.codemode.script.scheduler import Loop, Waitable
from pi_batch.codemode.values import CallReply, ScriptHost, ScriptRequest, ToolSignature

SEARCH_MAX: Final = 10
ALIASES: Final = frozenset({"oldText", "newText", "timeout", "edits", "file_text"})
"""Spellings that tools take beside their own."""


class ToolError(Exception):
    """A tool's failure, with the text that a model would read."""

    __module__ = "builtins"  # so that its attributes are as open as those of any exception

    def __init__(self, *args: object, kind: str | None = None) -> None:
        super().__init__(*args)
        self.kind = kind
        """The kind of error, such as `denied` or `timeout`."""


class NotAwaited(TypeError):
    """A call was used as if it were its result."""

    __module__ = "builtins"


@readable("done", "result", "cancel", "cancelled", "exception")
class Call(Waitable):
    """One tool call on its way. Whatever is done with it but `await` says that `await` is missing."""

    __slots__ = ("_drop", "_name")

    def __init__(self, loop: Loop, name: str, drop: Callable[[], None]) -> None:
        super().__init__(loop)
        self._name = name
        self._drop = drop

    def cancel(self) -> bool:
        """Settle it as cancelled, and let the host end it, unless it has settled."""
        is_cancelled = super().cancel()
        if is_cancelled:
            self._drop()
        return is_cancelled

    def give_up(self) -> None:
        """Nobody waits for it any more: end it."""
        if not self.is_wanted:
            self.cancel()

    def describe(self) -> str:
        """`tools.read(...)`."""
        return f"tools.{self._name}(...)"

    def script_getattr(self, name: str) -> Any:
        """Its own few attributes. Raises: NotAwaited for any other, which its result may have."""
        if name not in READABLE[Call]:
            raise self._missing()
        return HostFunction(getattr(self, name), name)

    def _missing(self) -> NotAwaited:
        return NotAwaited(f"{self._name} was not awaited: write `await {self.describe()}`")

    def _use(self, *_args: object) -> Any:
        raise self._missing()

    __getitem__ = __iter__ = __len__ = __bool__ = __contains__ = __format__ = __call__ = _use
    __add__ = __radd__ = __mul__ = __mod__ = __lt__ = __gt__ = __le__ = __ge__ = __int__ = __float__ = _use
    __or__ = __ror__ = __enter__ = __exit__ = __setitem__ = __delitem__ = __index__ = _use

    def __repr__(self) -> str:
        return f"<{self.describe()} not awaited: write `await {self.describe()}`>"

    def __await__(self) -> Generator[Waitable, None, Any]:
        return super().__await__()


class Tools:
    """The object `tools`: one attribute per tool."""

    __slots__ = ("_names", "_start")

    def __init__(self, names: Sequence[str], start: Callable[..., Call]) -> None:
        object.__setattr__(self, "_names", tuple(names))
        object.__setattr__(self, "_start", start)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("tools cannot be changed")

    def script_getattr(self, name: str) -> Any:
        """A tool as a function. Raises: AttributeError that lists the tools there are."""
        names: tuple[str, ...] = object.__getattribute__(self, "_names")
        if name not in names:
            raise AttributeError(unknown(name, names))
        start = object.__getattribute__(self, "_start")
        return HostFunction(lambda *args, **words: start(name, args, words), name)

    def __getitem__(self, name: Any) -> Any:
        return self.script_getattr(str.__str__(name) if isinstance(name, str) else repr(name))

    def __iter__(self) -> Any:
        return iter(object.__getattribute__(self, "_names"))

    def __repr__(self) -> str:
        return f"<tools: {', '.join(object.__getattribute__(self, '_names'))}>"


READABLE[Tools] = frozenset()


class Calls:
    """The tool calls of one script: checked, numbered, so many at once."""

    def __init__(self, request: ScriptRequest, host: ScriptHost, loop: Loop) -> None:
        self._tools = {tool.name: tool for tool in request.tools}
        self._host = host
        self._loop = loop
        self._max_calls = request.max_calls
        self._max_at_once = request.max_calls_at_once
        self._count = 0
        self._out: dict[int, Call] = {}
        self._queue: deque[tuple[int, str, Mapping[str, Any], Call]] = deque()
        self.every: list[Call] = []

    @property
    def tools(self) -> Tools:
        """The object that scripts know as `tools`."""
        return Tools(list(self._tools), self.start)

    def start(self, name: str, args: Sequence[Any], words: Mapping[str, Any]) -> Call:
        """Start a call. Raises: TypeError for arguments that it has not, ToolError."""
        arguments = self._arguments(self._tools[name], args, words)
        if self._count >= self._max_calls:
            raise ToolError(f"more than {self._max_calls} tool calls in one script", kind="not_run")
        self._count += 1
        number = self._count
        call = Call(self._loop, name, lambda: self._drop(number))
        self.every.append(call)
        if len(self._out) >= self._max_at_once:
            self._queue.append((self._count, name, arguments, call))
        else:
            self._send(self._count, name, arguments, call)
        return call

    def _send(self, number: int, name: str, arguments: Mapping[str, Any], call: Call) -> None:
        try:
            self._host.call(number, name, arguments)
        except ValueError as error:
            call.settle(error=ToolError(f"{name}: {error}", kind="invalid_arguments"))
            return
        self._out[number] = call
        self._loop.calls_out = len(self._out)

    def _drop(self, number: int) -> None:
        """Tell the host that nobody wants this call's result; it still replies."""
        if number in self._out:
            self._host.drop(number)

    def receive(self, timeout_s: float | None) -> bool:
        """Take the next reply, if one comes in time, and send what waited for its place."""
        reply = self._host.receive(timeout_s)
        if reply is None:
            return False
        call = self._out.pop(reply.call_id, None)
        if call is not None:
            self._settle(call, reply)
        while self._queue and len(self._out) < self._max_at_once:
            number, name, arguments, waiting = self._queue.popleft()
            if not waiting.done():
                self._send(number, name, arguments, waiting)
        self._loop.calls_out = len(self._out)
        return True

    @staticmethod
    def _settle(call: Call, reply: CallReply) -> None:
        if reply.error is not None:
            call.settle(error=ToolError(reply.error, kind=reply.error_kind))
        else:
            call.settle(reply.value)

    @staticmethod
    def _arguments(tool: ToolSignature, args: Sequence[Any], words: Mapping[str, Any]) -> Mapping[str, Any]:
        """Arguments by name, as JSON. Raises: TypeError that shows the signature."""
        usage = f"tools.{tool.signature}"
        if len(args) > len(tool.parameters):
            raise TypeError(f"{tool.name} takes at most {len(tool.parameters)} arguments: {usage}")
        named = dict(zip(tool.parameters, args, strict=False))
        for name, value in words.items():
            if name not in tool.parameters and name not in ALIASES:
                near = difflib.get_close_matches(name, tool.parameters, n=1, cutoff=0.4)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise TypeError(f"{tool.name} has no argument {name!r}{hint}. It is tools.{tool.signature}")
            if name in named:
                raise TypeError(f"{tool.name} got two values for {name!r}: {usage}")
            named[name] = value
        try:
            return {str.__str__(name): strict(value, name) for name, value in named.items()}
        except NotPlain as error:
            for value in named.values():
                if isinstance(value, Call):
                    raise value._missing() from None
            raise TypeError(f"{tool.name}: {error}") from None


def unknown(name: str, names: Sequence[str]) -> str:
    """What to say of a tool that is not there."""
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean tools.{near[0]}?" if near else ""
    return f"there is no tool {name!r}.{hint} The tools are: {', '.join(names)}"


def search(query: str, tools: Sequence[ToolSignature]) -> list[dict[str, str]]:
    """Tools whose names or descriptions have words of a query, best first; all for no query."""
    words = [word for word in query.lower().replace("_", " ").split() if word]

    def score(tool: ToolSignature) -> int:
        name, text = tool.name.lower().replace("_", " "), tool.description.lower()
        return sum(3 * (word in name) + (word in text) for word in words)

    ranked = sorted(tools, key=lambda tool: (-score(tool), tool.name))
    found = [tool for tool in ranked if score(tool)] if words else ranked
    return [
        {"name": tool.name, "signature": tool.signature, "description": tool.description}
        for tool in found[:SEARCH_MAX]
    ]
