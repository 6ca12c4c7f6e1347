"""The builtins of scripts: safe ones as they are, the others guarded, the missing ones with a hint."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any, Final

from pi_batch.codemode.script.calls import ToolError, Tools
from pi_batch.codemode.script.classes import TypeOf
from pi_batch.codemode.script.errors import HINTS
from pi_batch.codemode.script.guards import Guards
from pi_batch.codemode.script.host import READABLE, HostFunction, ModuleProxy, exports_of

SAFE: Final = (
    *(
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "bool",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
    ),
    *(
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "hash",
        "hex",
        "id",
        "int",
        "isinstance",
    ),
    *("issubclass", "iter", "len", "list", "map", "max", "memoryview", "min", "next", "object", "oct", "ord"),
    *("pow", "property", "range", "repr", "reversed", "round", "set", "slice", "sorted", "staticmethod"),
    *("classmethod", "str", "sum", "super", "tuple", "zip", "aiter", "anext", "Ellipsis", "NotImplemented"),
)
"""They call operator methods, and no attribute that they are told by name."""


def make(guards: Guards, output: Callable[[str], None]) -> dict[str, Any]:
    """The builtins of one script."""
    made: dict[str, Any] = {name: getattr(builtins, name) for name in SAFE}
    made |= {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    made |= {
        "__build_class__": builtins.__build_class__,
        "__import__": _import,
        "__debug__": True,
        "True": True,
        "False": False,
        "None": None,
        "type": TypeOf(guards),
        "ToolError": ToolError,
        "getattr": HostFunction(_getattr(guards), "getattr"),
        "hasattr": HostFunction(_hasattr(guards), "hasattr"),
        "setattr": HostFunction(guards.setattr, "setattr"),
        "delattr": HostFunction(guards.delattr, "delattr"),
        "vars": HostFunction(lambda obj: guards.read(obj, "__dict__"), "vars"),
        "dir": HostFunction(_dir, "dir"),
        "print": HostFunction(_print(output), "print"),
    }
    for name, text in HINTS.items():
        if name.isidentifier() and name not in made and hasattr(builtins, name):
            made[name] = HostFunction(_missing(name, text), name)
    return made


def _getattr(guards: Guards) -> Callable[..., Any]:
    def read(obj: Any, name: Any, *default: Any) -> Any:
        if len(default) > 1:
            raise TypeError("getattr expected at most 3 arguments")
        try:
            return guards.getattr(obj, name)
        except AttributeError:
            if default:
                return default[0]
            raise

    return read


def _hasattr(guards: Guards) -> Callable[..., bool]:
    def has(obj: Any, name: Any) -> bool:
        try:
            guards.getattr(obj, name)
        except AttributeError:
            return False
        return True

    return has


def _dir(obj: Any) -> list[str]:
    if type(obj) is ModuleProxy:
        return sorted(exports_of(obj))
    if type(obj) is Tools:
        return sorted(obj)
    known = READABLE.get(type(obj))
    if known is not None:
        return sorted(known)
    return sorted(name for name in object.__dir__(obj) if type(name) is str and not name.startswith("_"))


def _print(output: Callable[[str], None]) -> Callable[..., None]:
    def write(*values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
        for name, value in (("sep", sep), ("end", end)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be None or a string, not {type(value).__name__}")
        between = " " if sep is None else str.__str__(sep)
        text = between.join([str.__str__(str(value)) for value in values])
        text += "\n" if end is None else str.__str__(end)
        if file is None:
            output(text)
        else:
            file.write(text)

    return write


def _missing(name: str, text: str) -> Callable[..., Any]:
    def refuse(*_args: Any, **_words: Any) -> Any:
        raise NameError(f"{name}() is not available in scripts: {text}")

    return refuse


def _import(name: Any, *_args: Any, **_words: Any) -> Any:
    """C code's own imports, such as strptime's and TypeVar's: it takes what it needs from sys.modules.

    Import statements do not come here, as the policy rewrites them.

    Raises:
        ImportError: it is not loaded.
    """
    if type(name) is str and name in sys.modules:
        return None
    raise ImportError("imports are statements in scripts")
