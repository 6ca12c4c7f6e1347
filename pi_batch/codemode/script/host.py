"""Objects that this program hands to scripts: opaque, immutable, without a way back.

A plain function would carry its globals along; so what scripts call is wrapped, and what they may read of an
object of ours stands in a table, type by type.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, Self


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


class InstanceDict(dict[str, Any]):
    """An instance's `__dict__` as a script sees it: a copy whose changes are made on the instance too.

    Each key passes a check first: library code takes some, `__dataclass_fields__` among them, at their word.
    """

    __slots__ = ("_check", "_held")

    def __init__(self, held: dict[str, Any], check: Callable[[Any], str]) -> None:
        super().__init__(held)
        self._held = held
        self._check = check

    def __setitem__(self, key: Any, value: Any) -> None:
        self._held[self._check(key)] = value
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        self._held.pop(key, None)

    def __ior__(self, other: Any) -> Self:  # type: ignore[override,misc]
        self.update(other)
        return self

    def update(self, *args: Any, **words: Any) -> None:
        """As dict.update."""
        for key, value in dict(*args, **words).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """As dict.setdefault."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: Any, *default: Any) -> Any:
        """As dict.pop."""
        found = super().pop(key, *default)
        self._held.pop(key, None)
        return found

    def clear(self) -> None:
        """As dict.clear."""
        super().clear()
        self._held.clear()

    def copy(self) -> dict[str, Any]:
        """As dict.copy: of the instance no more."""
        return dict(self)

    def __reduce_ex__(self, protocol: object) -> Any:
        return dict, (dict(self),)


READABLE: Final[dict[type, frozenset[str]]] = {}
"""Type of ours -> the attributes of its instances that scripts may read."""


def readable(*names: str) -> Callable[[type], type]:
    """Let scripts read these attributes of a class of ours."""

    def decorate(kind: type) -> type:
        READABLE[kind] = frozenset(names)
        return kind

    return decorate
