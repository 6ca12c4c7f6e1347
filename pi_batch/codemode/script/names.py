"""Which names a script may spell, as one set of rules for the policy and for the guards at run time.

Names that hold a guard begin with `$`: no source can spell them, so that nothing shadows them.
"""

from __future__ import annotations

from typing import Final

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

GETATTR: Final = "$getattr"
WRITE: Final = "$write"
BASES: Final = "$bases"
CLASS: Final = "$class"
SUPER: Final = "$super"
IMPORT: Final = "$import"
IMPORT_FROM: Final = "$import_from"
MAIN: Final = "$main"
CLASS_VAR: Final = "$class_var"
INIT_VAR: Final = "$init_var"
KEYWORD_ONLY: Final = "$keyword_only"
ABSTRACT: Final = "$abstract"

INSPECT: Final = frozenset(INSPECT_ATTRIBUTES) | {
    *("tb_lasti", "tb_lineno", "f_lasti", "f_lineno", "f_trace_lines", "f_trace_opcodes"),
    *("gi_running", "gi_suspended", "cr_running", "cr_suspended", "ag_running", "ag_suspended"),
    *("co_consts", "co_names", "co_varnames", "co_flags", "co_filename"),
}
"""What leads from frames, generators and coroutines to the interpreter: refused wherever it is spelled."""

SPECIAL: Final = frozenset(
    {"format", "format_map", "obj", "mro", "register", "with_traceback", "throw", "send", "asend", "athrow"}
)
"""Attributes that the guard looks at twice; where attributes are read natively they are refused."""

NATIVE: Final = frozenset(
    {
        "parser",
        *("settle", "on_settled", "forget", "interrupt", "forgive", "is_seen", "describe", "script_getattr"),
        *("give_up", "is_wanted"),
    }
)
"""Attributes that must not be read natively, as patterns do: `PurePosixPath.parser` is the module `posixpath`
from Python 3.13 on; the others are our own objects', for the scheduler alone."""

METHODS: Final = frozenset(
    f"__{name}__"
    for name in (
        *("init", "post_init", "repr", "str", "bytes", "format", "hash", "bool", "len", "length_hint"),
        *("lt", "le", "eq", "ne", "gt", "ge", "contains", "iter", "next", "reversed", "missing"),
        *("getitem", "setitem", "delitem", "enter", "exit", "aenter", "aexit", "aiter", "anext", "call"),
        *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift"),
        *("and", "or", "xor", "radd", "rsub", "rmul", "rmatmul", "rtruediv", "rfloordiv", "rmod", "rdivmod"),
        *("rpow", "rlshift", "rrshift", "rand", "ror", "rxor", "iadd", "isub", "imul", "imatmul"),
        *("itruediv", "ifloordiv", "imod", "ipow", "ilshift", "irshift", "iand", "ior", "ixor"),
        *(
            "neg",
            "pos",
            "abs",
            "invert",
            "int",
            "float",
            "complex",
            "index",
            "round",
            "trunc",
            "floor",
            "ceil",
        ),
    )
)
"""Operator, container and context methods that a class may define. What is left out (`__new__`,
`__getattr__`, `__getattribute__`, `__setattr__`, `__del__`, `__get__`, `__set_name__`, `__init_subclass__`,
`__class_getitem__`, `__reduce__`, `__copy__`, `__deepcopy__`, `__await__`, `__instancecheck__` ...) are hooks
that the interpreter or a library calls behind the guards."""

CLASS_NAMES: Final = METHODS | {"__match_args__", "__doc__", "_missing_"}
"""Names with two underscores at both ends that a class body may bind."""

TEXTS: Final = frozenset({"__name__", "__qualname__", "__doc__"})
"""Texts of functions and classes, which decorators set."""

NAMEDTUPLE: Final = frozenset({"_replace", "_asdict", "_fields", "_make", "_field_defaults"})


def is_dunder(name: str) -> bool:
    """`__x__`."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def complaint(name: str) -> str | None:
    """Why a script may not bind or read a name; None: it may."""
    if name in INSPECT:
        return f"the name {name} is not available in scripts"
    if is_dunder(name) or (name.startswith("_") and name.endswith("_") and name.strip("_")):
        return f"names like {name} are not available in scripts"
    return None


def mangled(name: str, class_name: str | None) -> str:
    """A private name as the compiler spells it within a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name
