"""Run one script: read, restrict, compile, drive to its end, and say how it ended.

Everything happens here after the process was locked. Nothing that a script does is raised to the caller.
"""

from __future__ import annotations

import dataclasses
import pprint
import sys
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, ClassVar, Final

from pi_batch.codemode.script import modules
from pi_batch.codemode.script.builtin_names import make
from pi_batch.codemode.script.calls import Calls, search, unknown
from pi_batch.codemode.script.classes import ABC, Classes
from pi_batch.codemode.script.concurrency import Asyncio
from pi_batch.codemode.script.errors import FILE, Refused, failure, hint, refusal, stuck
from pi_batch.codemode.script.guards import Guards
from pi_batch.codemode.script.host import AwaitableList, AwaitableText, HostFunction, ModuleProxy, TypeToken
from pi_batch.codemode.script.names import (
    ABSTRACT,
    BASES,
    CLASS,
    CLASS_VAR,
    GETATTR,
    IMPORT,
    IMPORT_FROM,
    INIT_VAR,
    KEYWORD_ONLY,
    MAIN,
    SUPER,
    WRITE,
)
from pi_batch.codemode.script.parse import parse, wrapped
from pi_batch.codemode.script.plain import NotPlain, lenient
from pi_batch.codemode.script.policy import restricted
from pi_batch.codemode.script.scheduler import CancelledError, Deadlock, Loop, Task
from pi_batch.codemode.script.store import Store
from pi_batch.codemode.values import MAX_OUTPUT_CHARS, ScriptEnd, ScriptError, ScriptHost, ScriptRequest

MAX_NOTES: Final = 10
PRELOADED: Final = ("json", "re", "math", "asyncio", "datetime", "collections", "itertools", "textwrap")
"""Modules that are bound without an import: models forget it."""

_table: dict[str, dict[str, Any]] = {}
_classes: frozenset[type] = frozenset()


def prepare() -> None:
    """Import and use whatever a script may need later. Called once, before the process is locked."""
    global _classes  # noqa: PLW0603 -- made once, in the process that all workers are forked from
    if _table:
        return
    _table.update(modules.exports())
    _classes = modules.classes(_table)
    modules.warm()
    _compiled("import json\nasync def f():\n    return [await x async for x in y]\nprint(f'{1:>3}')\n")


def run_script(request: ScriptRequest, host: ScriptHost) -> ScriptEnd:
    """Run a script to its end; what it prints goes to the host as it comes."""
    prepare()
    try:
        code = _compiled(request.source)
    except Refused as error:
        return ScriptEnd("failed", error=refusal(error, request.source))
    except (RecursionError, MemoryError):
        return ScriptEnd("failed", error=ScriptError("Refused", "the script is nested too deeply"))
    return _Run(request, host).drive(code)


def _compiled(source: str) -> Any:
    """The script as code. Raises: Refused."""
    tree = restricted(wrapped(parse(source)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(tree, FILE, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise Refused(f"SyntaxError: {error.msg}", error.lineno, (error.offset or 1) - 1) from None
    except ValueError as error:
        raise Refused(str(error)) from None


class _Run:
    """One script's world."""

    def __init__(self, request: ScriptRequest, host: ScriptHost) -> None:
        self._request = request
        self._host = host
        self._globals: dict[str, Any] = {"__name__": "__main__", "__builtins__": {}}
        self._guards = Guards(self._globals, _classes)
        self._loop = Loop()
        self._calls = Calls(request, host, self._loop)
        self._loop.receive = self._calls.receive
        self._store = Store(request.store)
        self._printed = 0
        self._modules = self._own_modules()
        self._unawaited: list[str] = []
        self._fill()

    def drive(self, code: Any) -> ScriptEnd:
        """Run the code; everything that can go wrong is in the end that is given."""
        was = sys.modules.get("__main__"), getattr(warnings, "_warn_unawaited_coroutine", None)
        sys.modules["__main__"] = ModuleType("__main__")  # dataclasses look names up in a class's module
        warnings._warn_unawaited_coroutine = self._note_coroutine  # type: ignore[attr-defined]
        try:
            exec(code, self._globals)  # noqa: S102 -- the policy made this code
            value = self._loop.run(self._globals[MAIN]())
            return self._completed(value)
        except SystemExit as error:
            if error.code in (None, 0):
                return self._completed(None)
            return self._failed(error)
        except Deadlock as error:
            return ScriptEnd("failed", error=stuck(error.line, self._request.source), notes=self._notes())
        except CancelledError:
            return ScriptEnd("failed", error=ScriptError("CancelledError", "the script cancelled itself"))
        except RecursionError as error:
            return self._failed(error)
        except MemoryError:
            raise
        except BaseException as error:  # noqa: BLE001 -- whatever a script raises is its end
            return self._failed(error)
        finally:
            if was[0] is not None:
                sys.modules["__main__"] = was[0]
            if was[1] is not None:
                warnings._warn_unawaited_coroutine = was[1]  # type: ignore[attr-defined]

    def _completed(self, value: Any) -> ScriptEnd:
        try:
            plain = lenient(value, self._text)
        except (NotPlain, RecursionError) as error:
            return ScriptEnd("failed", error=ScriptError("ValueError", f"the returned {error}"))
        return ScriptEnd(
            "completed",
            value=plain,
            has_value=value is not None,
            store=self._store.changed(),
            notes=self._notes(),
        )

    def _failed(self, error: BaseException) -> ScriptEnd:
        return ScriptEnd("failed", error=failure(error, self._request.source), notes=self._notes())

    @staticmethod
    def _text(value: Any) -> str:
        """A value's text, whatever its class makes of it."""
        try:
            return str.__str__(str(value))
        except Exception:  # noqa: BLE001 -- a script's own __str__
            return f"<{type(value).__name__}>"

    def _notes(self) -> tuple[str, ...]:
        """What a model would want to know: calls nobody awaited, tasks whose failure nobody saw."""
        notes = [f"{call.describe()} was never awaited" for call in self._calls.every if not call.is_seen]
        notes += [f"the coroutine {name} was never awaited" for name in self._unawaited]
        for task in self._loop.tasks:
            if isinstance(task, Task) and task.done() and not task.is_seen:
                error = task.exception()
                if error is not None:
                    notes.append(
                        f"the task {task.name} failed and nobody awaited it: {self._text(error)[:200]}"
                    )
        more = len(notes) - MAX_NOTES
        return (*notes[:MAX_NOTES], *([f"and {more} more notes"] if more > 0 else []))

    def _note_coroutine(self, coroutine: Any) -> None:
        name = getattr(coroutine, "__qualname__", "?").removeprefix(f"{MAIN}.<locals>.")
        self._unawaited.append(f"{name}(...)")

    # --- what a script sees ---

    def _fill(self) -> None:
        builtins = make(self._guards, self._print)
        classes = Classes(self._guards)
        self._globals["__builtins__"] = builtins
        self._globals |= {
            GETATTR: self._guards.read,
            SUPER: self._guards.super_getattr,
            WRITE: self._guards.write,
            BASES: classes.bases,
            CLASS: classes.register,
            IMPORT: self._import,
            IMPORT_FROM: self._import_from,
            CLASS_VAR: ClassVar,
            INIT_VAR: dataclasses.InitVar,
            KEYWORD_ONLY: dataclasses.KW_ONLY,
            ABSTRACT: ABC,
        }
        tools = [tool for tool in self._request.tools if tool.name != "codemode"]
        builtins |= {name: self._module(name) for name in PRELOADED}
        builtins |= {
            "tools": self._calls.tools,
            "gather": self._modules["asyncio"]["gather"],
            "ALL_TOOLS": tuple(tool.name for tool in tools),
            "search_tools": HostFunction(
                lambda query="": AwaitableList(search(str(query), tools)), "search_tools"
            ),
            "describe_tool": HostFunction(self._describe, "describe_tool"),
            "image": HostFunction(self._image, "image"),
            "store": HostFunction(self._store.put, "store"),
            "load": HostFunction(self._store.get, "load"),
        }

    def _own_modules(self) -> dict[str, Mapping[str, Any]]:
        """The table of modules with what belongs to this script alone."""
        classes = Classes(self._guards)
        table: dict[str, Mapping[str, Any]] = dict(_table)
        host = {
            name: HostFunction(function, name) for name, function in Asyncio(self._loop).exports().items()
        }
        table["asyncio"] = {
            **host,
            "CancelledError": CancelledError,
            "TimeoutError": TimeoutError,
            "FIRST_COMPLETED": "FIRST_COMPLETED",
            "FIRST_EXCEPTION": "FIRST_EXCEPTION",
            "ALL_COMPLETED": "ALL_COMPLETED",
            "Task": TypeToken("Task"),
        }
        own: dict[str, dict[str, Callable[..., Any]]] = {
            "dataclasses": {"dataclass": classes.dataclass},
            "collections": {"namedtuple": classes.namedtuple},
            "functools": {
                "total_ordering": classes.total_ordering,
                "wraps": classes.wraps,
                "update_wrapper": classes.update_wrapper,
            },
            "operator": {"attrgetter": self._attrgetter, "methodcaller": self._methodcaller},
            "pprint": {"pformat": pprint.pformat, "pprint": self._pprint, "pp": self._pprint},
            "traceback": {
                "format_exc": self._format_exc,
                "print_exc": lambda: self._print(self._format_exc()),
            },
        }
        for name, more in own.items():
            named = {key: HostFunction(function, key) for key, function in more.items()}
            table[name] = {**table.get(name, {}), **named}
        return table

    def _module(self, name: str) -> ModuleProxy:
        inner = {
            child.partition(".")[2]: ModuleProxy(child, self._modules[child])
            for child in self._modules
            if child.startswith(f"{name}.")
        }
        return ModuleProxy(name, {**self._modules[name], **inner})

    def _import(self, name: str, is_named: bool) -> ModuleProxy:
        """`import a.b` gives a, `import a.b as c` gives a.b. Raises: ImportError."""
        if name not in self._modules:
            raise _no_module(name)
        return self._module(name if is_named else name.partition(".")[0])

    def _import_from(self, module: str, name: str) -> Any:
        """`from a import b`. Raises: ImportError."""
        if module not in self._modules:
            raise _no_module(module)
        exports = self._module(module)
        try:
            return getattr(exports, name)
        except AttributeError:
            raise ImportError(f"cannot import name {name!r} from {module!r} in scripts") from None

    def _print(self, text: str) -> None:
        self._printed += len(text)
        if self._printed > MAX_OUTPUT_CHARS:
            raise MemoryError(f"the script printed more than {MAX_OUTPUT_CHARS // 1024**2} Mi characters")
        if text:
            self._host.output(text)

    def _pprint(self, value: Any, *args: Any, **words: Any) -> None:
        self._print(pprint.pformat(value, *args, **words) + "\n")

    def _image(self, value: Any) -> None:
        """Show the model an image that a tool gave."""
        is_image = type(value) is dict and value.get("type") == "image"
        data, mime_type = (value.get("data"), value.get("mimeType")) if is_image else (None, None)
        if not (type(data) is str and type(mime_type) is str):
            raise TypeError("image() takes what `await tools.read(path=...)` gives for an image file")
        self._host.image(data, mime_type)

    def _describe(self, name: Any) -> AwaitableText:
        text = str.__str__(name) if isinstance(name, str) else repr(name)
        for tool in self._request.tools:
            if tool.name == text.removeprefix("tools."):
                return AwaitableText(f"{tool.signature}\n\n{tool.description}")
        raise ValueError(unknown(text, [tool.name for tool in self._request.tools]))

    def _attrgetter(self, *names: str) -> HostFunction:
        def read(obj: Any) -> Any:
            values = []
            for name in names:
                value = obj
                for part in str.__str__(name).split("."):
                    value = self._guards.getattr(value, part)
                values.append(value)
            return values[0] if len(values) == 1 else tuple(values)

        return HostFunction(read, "attrgetter")

    def _methodcaller(self, name: str, *args: Any, **words: Any) -> HostFunction:
        return HostFunction(
            lambda obj: self._guards.getattr(obj, str.__str__(name))(*args, **words), "methodcaller"
        )

    def _format_exc(self) -> str:
        error = sys.exc_info()[1]
        return "" if error is None else f"{type(error).__name__}: {self._text(error)}\n"


def _no_module(name: str) -> ImportError:
    known = ", ".join(sorted(module for module in _table if "." not in module))
    said = hint(name) or f". The modules are: {known}"
    return ModuleNotFoundError(f"module {name} is not available in scripts{said}", name=name)
