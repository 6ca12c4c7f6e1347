"""Classes of a script: which bases they may have, and what stands in for library decorators.

No metaclass but those of the listed bases runs; what could read or write attributes behind the guards
(`ABC.register`, the functional `Enum(...)`, `runtime_checkable`, `namedtuple(module=...)`) is left out.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import inspect
import json
import typing
from typing import Any, Final

from pi_batch.codemode.script.guards import Guards
from pi_batch.codemode.script.host import HostFunction, TypeToken
from pi_batch.codemode.script.names import INSPECT, SPECIAL, complaint


class AbstractMeta(type):
    """Keeps a class with abstract methods from being instantiated, and nothing else."""

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **words: Any) -> None:
        super().__init__(name, bases, body, **words)
        inherited = {method for base in bases for method in getattr(base, "__abstractmethods__", ())}
        names = {
            method
            for method in inherited | body.keys()
            if getattr(getattr(cls, method, None), "__isabstractmethod__", False)
        }
        cls.__abstractmethods__ = frozenset(names)


class ABC(metaclass=AbstractMeta):
    """Stands for abc.ABC."""


class Generic:
    """Stands for typing.Generic and typing.Protocol: a subscript means nothing at run time."""

    def __class_getitem__(cls, _parameters: object) -> type:
        return cls


class ClosedEnumType(enum.EnumMeta):
    """Looks members up; makes no class out of names, which would run the interpreter's frame tricks."""

    def __call__(cls, *args: Any, **words: Any) -> Any:  # noqa: D102 -- as every class is called
        if not len(cls.__members__) or len(args) != 1 or words:
            raise TypeError("write enums as classes: `class Color(Enum): RED = 1`")
        return super().__call__(*args)


class ScriptEnum(enum.Enum, metaclass=ClosedEnumType):
    """enum.Enum."""


class ScriptIntEnum(enum.IntEnum, metaclass=ClosedEnumType):
    """enum.IntEnum."""


class ScriptStrEnum(enum.StrEnum, metaclass=ClosedEnumType):
    """enum.StrEnum."""


class ScriptFlag(enum.Flag, metaclass=ClosedEnumType):
    """enum.Flag."""


class ScriptIntFlag(enum.IntFlag, metaclass=ClosedEnumType):
    """enum.IntFlag."""


ENUMS: Final = {
    "Enum": ScriptEnum,
    "IntEnum": ScriptIntEnum,
    "StrEnum": ScriptStrEnum,
    "Flag": ScriptFlag,
    "IntFlag": ScriptIntFlag,
}
for _name, _kind in ENUMS.items():
    _kind.__name__ = _kind.__qualname__ = _name
    _kind.__module__ = "enum"

BASES: Final = frozenset(
    {
        *(object, dict, list, set, frozenset, tuple, str, int, float, ABC, Generic, json.JSONEncoder),
        *(collections.UserDict, collections.UserList, collections.OrderedDict, collections.defaultdict),
        *(collections.Counter, *ENUMS.values()),
    }
)
"""What a class of a script may derive from, beside exceptions and its own classes."""


def _as_class(name: str) -> HostFunction:
    def refuse(*_args: Any, **_words: Any) -> Any:
        raise TypeError(f"write it as a class: `class X({name}): ...`")

    return HostFunction(refuse, name)


def _tuple_of_names(name: Any, fields: Any = ()) -> Any:
    """`NamedTuple("Point", [("x", int)])`. Raises: TypeError."""
    names = [field[0] for field in fields]
    for each in (name, *names):
        if type(each) is not str or _is_unreadable(each):
            raise TypeError(f"{each!r} is no name for a tuple or its field")
    make: Any = collections.namedtuple  # noqa: PYI024
    return make(name, names, module="collections")  # as a library's: no script is at hand that owns it


NAMED_TUPLE: Final = HostFunction(_tuple_of_names, "NamedTuple")
TYPED_DICT: Final = _as_class("TypedDict")
"""What stands for typing.NamedTuple and typing.TypedDict, which are functions with globals."""


class Classes:
    """Makes and decorates the classes of one script."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards

    def bases(self, *bases: Any) -> tuple[Any, ...]:
        """The bases, if a class may have them. Raises: TypeError."""
        for base in bases:
            if not self._is_base(base):
                name = base.__name__ if isinstance(base, type) else repr(base)
                raise TypeError(f"a class in a script cannot derive from {name}")
        self._check_text_fields([base for base in bases if isinstance(base, type)])
        real = {id(NAMED_TUPLE): typing.NamedTuple, id(TYPED_DICT): typing.TypedDict}
        return tuple(real.get(id(base), base) for base in bases)

    def _check_text_fields(self, bases: list[type]) -> None:
        """A text's own `format` must not be found where a field is read natively. Raises: TypeError."""
        if not any(issubclass(base, str) for base in bases):
            return
        for kind in (each for base in bases for each in base.__mro__ if self._guards.is_own_class(each)):
            fields = {*inspect.get_annotations(kind), *kind.__dict__.get("__match_args__", ())}
            if fields & {"format", "format_map"}:
                raise TypeError(f"{kind.__name__} has a field called format: no text can derive from it")

    def _is_base(self, base: Any) -> bool:
        if base is NAMED_TUPLE or base is TYPED_DICT:
            return True
        if not isinstance(base, type):
            return False
        is_exception = issubclass(base, Exception) and base.__module__ == "builtins"
        return is_exception or self._guards.is_own_class(base) or base in BASES

    def register(self, kind: Any) -> Any:
        """Make a new class the script's own. Raises: TypeError for names that patterns must not read."""
        if not isinstance(kind, type):
            return kind
        names = kind.__dict__.get("__match_args__", ())
        fields = kind.__dict__.get("_fields", ())
        for name in (*(names if type(names) is tuple else (None,)), *fields):
            if type(name) is not str or self._is_dangerous(kind, name):
                raise TypeError(f"{kind.__name__}: a field cannot be called {name!r} in scripts")
        self._guards.adopt(kind)
        return kind

    def _is_dangerous(self, kind: Any, name: str) -> bool:
        """Whether a field of this name, which patterns read natively, may be a library's attribute."""
        if not _is_unreadable(name):
            return False
        library = [
            base for base in kind.__mro__ if base is not object and not self._guards.is_own_class(base)
        ]
        return name not in SPECIAL or any(hasattr(base, name) for base in library)

    # --- stand-ins for library functions ---

    def dataclass(self, kind: Any = None, /, **words: Any) -> Any:
        """dataclasses.dataclass, for classes of the script's own."""
        allowed = {"init", "repr", "eq", "order", "unsafe_hash", "frozen", "match_args", "kw_only", "slots"}
        if set(words) - allowed:
            raise TypeError(f"dataclass() got an unexpected keyword argument {min(set(words) - allowed)!r}")

        def decorate(target: Any) -> Any:
            if not self._guards.is_own_class(target):
                raise TypeError("dataclass is for classes of the script")
            for name in inspect.get_annotations(target):
                if self._is_dangerous(target, name):
                    raise TypeError(f"{target.__name__}: a field cannot be called {name!r} in scripts")
            return self.register(dataclasses.dataclass(**{**words, "slots": False})(target))

        return decorate if kind is None else decorate(kind)

    def namedtuple(self, name: Any, fields: Any, *, rename: bool = False, defaults: Any = None) -> Any:
        """collections.namedtuple, without a module of one's choice."""
        text = str.__str__(name) if isinstance(name, str) else str(name)
        names = fields if isinstance(fields, str) else [str(field) for field in fields]
        make: Any = collections.namedtuple  # noqa: PYI024
        made = make(text, names, rename=rename, defaults=defaults, module="__main__")
        return self.register(made)

    def total_ordering(self, kind: Any) -> Any:
        """functools.total_ordering, for classes of the script's own."""
        if not self._guards.is_own_class(kind):
            raise TypeError("total_ordering is for classes of the script")
        return functools.total_ordering(kind)

    def wraps(self, wrapped: Any, *_args: Any, **_words: Any) -> Any:
        """functools.wraps: copies a function's names onto a function of the script's own."""

        def decorate(wrapper: Any) -> Any:
            if self._guards.is_own_function(wrapper):
                for name in ("__name__", "__qualname__", "__doc__"):
                    value = self._guards.getattr(wrapped, name)
                    if type(value) is str:
                        setattr(wrapper, name, value)
            return wrapper

        return HostFunction(decorate, "wraps")

    def update_wrapper(self, wrapper: Any, wrapped: Any, *_args: Any, **_words: Any) -> Any:
        """functools.update_wrapper."""
        return self.wraps(wrapped)(wrapper)


class TypeOf:
    """The builtin `type`: of one argument only; in isinstance it stands for every class."""

    __slots__ = ("_guards",)

    def __init__(self, guards: Guards) -> None:
        object.__setattr__(self, "_guards", guards)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("type cannot be changed")

    def __call__(self, *args: Any) -> Any:  # noqa: D102 -- the builtin
        if len(args) != 1:
            raise TypeError("type() takes 1 argument in scripts: write classes with `class`")
        guards: Guards = object.__getattribute__(self, "_guards")
        return TypeToken("type") if guards.is_class(args[0]) else guards.type_of(args[0])

    def __instancecheck__(self, value: Any) -> bool:
        guards: Guards = object.__getattribute__(self, "_guards")
        return guards.is_class(value)

    def __repr__(self) -> str:
        return "<class 'type'>"


def _is_unreadable(name: str) -> bool:
    """Whether a pattern, which reads attributes natively, must not read this one."""
    return name in SPECIAL or name in INSPECT or complaint(name) is not None
