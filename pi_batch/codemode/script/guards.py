"""What a script may read and change at run time: every attribute passes here, and every write.

What is the script's own (classes that its text made, their instances, its functions) it may read and change.
Of everything else it reads public attributes of data types from a list of modules. Modules, frames, code
objects and their like are never handed out, wherever they come from.
"""

from __future__ import annotations

import collections
import decimal
import enum
import textwrap
import types
from typing import Any, Final

from pi_batch.codemode.script.formatting import formatter
from pi_batch.codemode.script.host import (
    READABLE,
    AwaitableList,
    AwaitableText,
    HostFunction,
    InstanceDict,
    ModuleProxy,
    TypeToken,
    name_of,
    token_name,
)
from pi_batch.codemode.script.names import INSPECT, METHODS, NAMEDTUPLE, SPECIAL, TEXTS, complaint, is_dunder

_ITERATORS = (
    *(type(iter(kind())) for kind in (list, tuple, dict, set, str, bytes)),
    *(enumerate, zip, map, filter, reversed, types.GeneratorType, property),
)
DATA: Final = frozenset(
    {
        *(str, bytes, bytearray, int, float, complex, bool, list, tuple, dict, set, frozenset, range, slice),
        *(memoryview, object, type(None), type({}.keys()), type({}.values()), type({}.items())),
        *(AwaitableList, AwaitableText, InstanceDict, *_ITERATORS),
    }
)
"""Types of the interpreter whose public attributes are methods on data."""

MODULES: Final = frozenset(
    {
        *("re", "datetime", "collections", "_collections", "itertools", "functools", "decimal", "fractions"),
        *(
            "random",
            "_random",
            "difflib",
            "string",
            "uuid",
            "enum",
            "textwrap",
            "json.encoder",
            "json.decoder",
        ),
        *("csv", "_csv", "_io", "io", "statistics", "zlib", "_hashlib", "_blake2", "_md5", "_sha1", "_sha2"),
        *("_sha256", "_sha512", "_sha3", "dataclasses", "urllib.parse", "time", "operator", "_operator"),
        *("pathlib", "pathlib._local", "_struct", "numbers", "calendar", "types", "tomllib", "binascii"),
    }
)
"""Where classes come from whose instances a script may read; a script's own class cannot claim to."""

HIDDEN: Final = (
    types.ModuleType,
    types.FrameType,
    types.TracebackType,
    types.CodeType,
    types.CellType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
"""Never handed out, whatever leads to them."""

WRITABLE: Final = frozenset(
    {
        *(
            dict,
            list,
            AwaitableList,
            InstanceDict,
            bytearray,
            collections.deque,
            collections.Counter,
            collections.defaultdict,
        ),
        *(collections.OrderedDict, collections.ChainMap, collections.UserDict, collections.UserList),
        *(decimal.Context, types.SimpleNamespace, textwrap.TextWrapper),
    }
)
"""Types whose items, and of the last three whose attributes, a script may set."""

_MISSING: Final = object()
_PROPERTY = frozenset({"setter", "getter", "deleter"})
_NAMED = TEXTS


class Guards:
    """The guards of one script, and what is that script's own."""

    def __init__(self, script_globals: dict[str, Any], classes: frozenset[type]) -> None:
        self._globals = script_globals
        self._own: dict[int, type] = {}
        self._classes = classes
        """Library classes that scripts were given by name: their public class attributes can be read."""

    # --- whose is it ---

    def adopt(self, kind: type) -> None:
        """Make a class the script's own."""
        self._own[id(kind)] = kind

    def is_own_class(self, value: object) -> bool:
        """True for a class that the script's text made."""
        return isinstance(value, type) and self._owns(value)

    def _owns(self, kind: type) -> bool:
        """Whether a class is the script's own. An enum's members are made before it can be registered."""
        if self._own.get(id(kind)) is kind:
            return True
        if isinstance(kind, enum.EnumMeta) and kind.__module__ == "__main__":
            self.adopt(kind)
            return True
        return False

    def is_own_function(self, value: object) -> bool:
        """True for a function that the script's text made."""
        return type(value) is types.FunctionType and value.__globals__ is self._globals

    # --- reading ---

    def getattr(self, obj: Any, name: Any) -> Any:
        """What an attribute gives whose name is a value, as in a format field. Raises: AttributeError.

        Names with two underscores at both ends have to be spelled in the source.
        """
        if type(name) is str and is_dunder(name) and name not in _NAMED | METHODS:
            raise AttributeError(f"the attribute {name!r} is not available in scripts")
        return self.read(obj, name)

    def read(self, obj: Any, name: Any) -> Any:
        """What `obj.name` gives. Raises: AttributeError, also for what is not available in scripts."""
        if type(name) is not str:
            raise TypeError("attribute name must be string, not " + repr(type(name).__name__))
        kind = type(obj)
        if kind is ModuleProxy:
            return getattr(obj, name)
        if name in INSPECT:
            raise AttributeError(f"the attribute {name!r} is not available in scripts")
        if kind is super:
            return self.super_getattr(obj, name)
        if name[:1] == "_":
            return self._private(obj, kind, name)
        if name in SPECIAL:
            return self._special(obj, kind, name)
        if kind in READABLE:
            return self._readable(obj, kind, name)
        if not self._is_open(obj, kind, name):
            raise AttributeError(f"{_described(obj)} has no attribute {name!r} in scripts")
        return _shown(getattr(obj, name), name)

    def _is_open(self, obj: Any, kind: type, name: str) -> bool:
        """Whether the public attributes of an object may be read natively."""
        if self._owns(kind):
            return True
        if isinstance(obj, type):
            return self.is_own_class(obj) or obj in self._classes or obj in DATA or _is_exception(obj)
        if kind is types.FunctionType:
            return self.is_own_function(obj) and name in obj.__dict__
        if kind is property:
            return name in _PROPERTY
        if kind is types.AsyncGeneratorType:
            return name == "aclose"
        return kind in DATA or _is_exception(kind) or kind.__module__ in MODULES

    @staticmethod
    def _readable(obj: Any, kind: type, name: str) -> Any:
        reader = getattr(kind, "script_getattr", None)
        if reader is not None:
            return reader(obj, name)
        if name not in READABLE[kind]:
            raise AttributeError(f"{_described(obj)} has no attribute {name!r}")
        value = getattr(obj, name)
        return HostFunction(value, name) if type(value) is types.MethodType else value

    def _special(self, obj: Any, kind: type, name: str) -> Any:
        """Attributes that mean trouble on library objects; a script's own are its own."""
        if name in ("format", "format_map"):
            if isinstance(obj, str) and not self._defines(kind, name):
                return HostFunction(formatter(obj, name, self.getattr), name)
            if isinstance(obj, type) and issubclass(obj, str) and not self._defines(obj, name):
                return HostFunction(lambda text, *a, **k: formatter(text, name, self.getattr)(*a, **k), name)
        if name in ("send", "throw") and kind is types.GeneratorType:
            return getattr(obj, name)
        holder = obj if isinstance(obj, type) else kind
        if self._defines(holder, name) or (self._owns(kind) and name in _held(obj)):
            return _shown(getattr(obj, name), name)
        if kind is types.FunctionType and self.is_own_function(obj) and name in obj.__dict__:
            return obj.__dict__[name]
        raise AttributeError(f"{_described(obj)} has no attribute {name!r} in scripts")

    def _defines(self, kind: type, name: str) -> bool:
        """Whether a class of the script's own, among a class and its bases, defines a name."""
        return any(name in base.__dict__ and self._owns(base) for base in kind.__mro__)

    # --- names with underscores ---

    def _private(self, obj: Any, kind: type, name: str) -> Any:
        if is_dunder(name):
            return self._dunder(obj, kind, name)
        said = complaint(name)
        holder = obj if isinstance(obj, type) else kind
        is_own = self._defines(holder, name) or (self._owns(kind) and name in _held(obj))
        is_namedtuple = name in NAMEDTUPLE and issubclass(holder, tuple) and hasattr(holder, "_fields")
        if said is None and (is_own or is_namedtuple):
            return _shown(getattr(obj, name), name)
        if said is None and kind is types.FunctionType and self.is_own_function(obj) and name in obj.__dict__:
            return obj.__dict__[name]
        raise AttributeError(f"{_described(obj)} has no attribute {name!r} in scripts")

    def _dunder(self, obj: Any, kind: type, name: str) -> Any:
        """The few that scripts write all the time, as values that lead nowhere."""
        match name:
            case "__class__":
                return self.type_of(obj)
            case "__name__" | "__qualname__" if (found := self._name_of(obj, name)) is not None:
                return found
            case "__doc__":
                text = getattr(obj, "__doc__", None)
                return str.__str__(text) if isinstance(text, str) else None
            case "__dict__" if self._owns(kind):
                return InstanceDict(_held(obj), _settable)
            case "__module__" if self.is_own_class(obj):
                return str(obj.__module__)
            case "__setattr__" if obj is object:
                return HostFunction(self._set_own, name)  # in `__post_init__` of frozen dataclasses
            case "__dict__" if self.is_own_class(obj):
                return {key: value for key, value in obj.__dict__.items() if not key.startswith("_")}
            case "__annotations__" if self.is_own_class(obj):
                return {key: _plain_annotation(value) for key, value in obj.__annotations__.items()}
            case "__cause__" | "__context__" if isinstance(obj, BaseException):
                return getattr(obj, name)
            case "__notes__" if isinstance(obj, BaseException):
                return list(getattr(obj, "__notes__", ()))
            case "__members__" if self.is_own_class(obj) and hasattr(obj, "__members__"):
                return dict(obj.__members__)
            case _ if name in METHODS:
                return self._method(obj, kind, name)
        raise AttributeError(f"{_described(obj)} has no attribute {name!r} in scripts")

    def _method(self, obj: Any, kind: type, name: str) -> Any:
        """An operator's method called by its name: of the script's own, and of the interpreter's data."""
        holder = obj if isinstance(obj, type) else kind
        if self.is_own_class(holder) or holder in DATA or _is_exception(holder):
            return getattr(obj, name)
        raise AttributeError(f"{_described(obj)} has no attribute {name!r} in scripts")

    def _name_of(self, obj: Any, name: str) -> str | None:
        if type(obj) is HostFunction:
            return name_of(obj)
        if type(obj) is TypeToken:
            return token_name(obj)
        if isinstance(obj, type):
            return str(type.__getattribute__(obj, name)) if self.is_own_class(obj) else obj.__name__
        if type(obj) in (types.FunctionType, types.MethodType, types.BuiltinFunctionType):
            return str(getattr(obj, name)).removeprefix("$main.<locals>.")
        return None

    def super_getattr(self, obj: Any, name: Any) -> Any:
        """`super().name`: methods and operators, as a bound method. Raises: AttributeError."""
        if type(obj) is not super or type(name) is not str:
            return self.read(obj, name)
        if name == "__setattr__":
            target = getattr(obj, "__self__", None)
            return HostFunction(lambda key, value: self._set_own(target, key, value), name)
        is_plain = complaint(name) is None and name not in SPECIAL
        if is_plain or name in METHODS:
            value = getattr(obj, name)
            return _shown(value, name)
        raise AttributeError(f"super() has no attribute {name!r} in scripts")

    # --- changing ---

    def write(self, obj: Any) -> Any:
        """The object itself, if a script may set its items and attributes. Raises: TypeError."""
        kind = type(obj)
        if kind in WRITABLE or self._owns(kind) or self.is_own_class(obj) or self.is_own_function(obj):
            return obj
        if _is_exception(kind):
            return obj  # one that was raised is nobody else's
        raise TypeError(f"{_described(obj)} cannot be changed in scripts")

    def _set_own(self, obj: Any, name: Any, value: Any) -> None:
        """object.__setattr__, for instances of the script's own classes. Raises: TypeError."""
        if not self._owns(type(obj)):
            raise TypeError(f"{_described(obj)} cannot be changed in scripts")
        object.__setattr__(obj, _settable(name), value)

    def setattr(self, obj: Any, name: Any, value: Any) -> None:
        """The builtin. Raises: AttributeError, TypeError."""
        setattr(self.write(obj), _settable(name), value)

    def delattr(self, obj: Any, name: Any) -> None:
        """The builtin. Raises: AttributeError, TypeError."""
        delattr(self.write(obj), _settable(name))

    # --- types ---

    def type_of(self, obj: Any) -> Any:
        """`type(x)`: a class that a script may know, or a token with its name."""
        kind = type(obj)
        if self._owns(kind) or kind in DATA or kind in self._classes or _is_exception(kind):
            return kind
        return TypeToken("function" if kind in (HostFunction, types.BuiltinFunctionType) else kind.__name__)

    def is_class(self, obj: Any) -> bool:
        """`isinstance(x, type)`."""
        return isinstance(obj, type) or type(obj) is TypeToken


def _settable(name: Any) -> str:
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    if complaint(name) is not None and name not in TEXTS:
        raise AttributeError(f"the attribute {name!r} cannot be set in scripts")
    return name


def _held(obj: Any) -> dict[str, Any]:
    """An instance's own attributes, whatever its class says."""
    try:
        held: dict[str, Any] = object.__getattribute__(obj, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return held if type(held) is dict else {}


def _shown(value: Any, name: str) -> Any:
    if isinstance(value, HIDDEN):
        raise AttributeError(f"the attribute {name!r} is not available in scripts")  # noqa: TRY004 -- as Python does
    return value


def _is_exception(kind: type) -> bool:
    return issubclass(kind, BaseException) and kind.__module__ == "builtins"


def _plain_annotation(value: Any) -> Any:
    return value if isinstance(value, type | str) else repr(value)


def _described(obj: Any) -> str:
    if isinstance(obj, type):
        return f"type object {obj.__name__!r}"
    return f"{type(obj).__name__!r} object"
