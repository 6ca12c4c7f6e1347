"""Objects that this program hands to scripts: opaque, immutable, without a way back.

A plain function would carry its globals along; so what scripts call is wrapped, and what they may read of an
object of ours stands in a table, type by type.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final


class HostFunction:
    """A function of this program as a script sees it."""

    __slots__ = ("_function", "_name")

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        object.__setattr__(self, "_function", function)
        object.__setattr__(self, "_name", name or getattr(function, "__name__", "function"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 -- what the wrapped function does
        return object.__getattribute__(self, "_function")(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("this function cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("this function cannot be changed")

    def __repr__(self) -> str:
        return f"<function {name_of(self)}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("a function cannot be copied")

    def __copy__(self) -> HostFunction:
        return self

    def __deepcopy__(self, memo: object) -> HostFunction:
        return self


def name_of(function: HostFunction) -> str:
    """A host function's name."""
    name: str = object.__getattribute__(function, "_name")
    return name


class ModuleProxy:
    """A module as a script sees it: a name and the exports that were chosen, nothing behind them."""

    __slots__ = ("_exports", "_name")

    def __init__(self, name: str, exports: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_exports", dict(exports))

    def __getattribute__(self, name: str) -> Any:
        # Natively read too: by class patterns and by `case module.NAME`.
        exports = object.__getattribute__(self, "_exports")
        if type(name) is str and name in exports:
            return exports[name]
        raise AttributeError(f"module {object.__getattribute__(self, '_name')!r} has no {name!r} in scripts")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a module cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a module cannot be changed")

    def __repr__(self) -> str:
        return f"<module {object.__getattribute__(self, '_name')!r}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("a module cannot be copied")


def exports_of(module: ModuleProxy) -> Mapping[str, Any]:
    """Everything that a module proxy has, by name."""
    exports: Mapping[str, Any] = object.__getattribute__(module, "_exports")
    return exports


class TypeToken:
    """What `type(x)` gives where the real class is none of a script's business; it has a name only."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a type cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(other) is TypeToken and token_name(other) == token_name(self)

    def __hash__(self) -> int:
        return hash(token_name(self))

    def __repr__(self) -> str:
        return f"<class {token_name(self)!r}>"


def token_name(token: TypeToken) -> str:
    """A token's name."""
    name: str = object.__getattribute__(token, "_name")
    return name


class AwaitableList(list[Any]):
    """A list that may be awaited too: models do not remember which functions are calls."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, AwaitableList]:
        yield from ()
        return self


class AwaitableText(str):
    """A text that may be awaited too."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, AwaitableText]:
        yield from ()
        return self


READABLE: Final[dict[type, frozenset[str]]] = {}
"""Type of ours -> the attributes of its instances that scripts may read."""


def readable(*names: str) -> Callable[[type], type]:
    """Let scripts read these attributes of a class of ours."""

    def decorate(kind: type) -> type:
        READABLE[kind] = frozenset(names)
        return kind

    return decorate
