"""What templates can do with values: filters, tests and methods, none of which can grow without bound.

jinja2's own where they are harmless; ours where a short template could ask for gigabytes.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:  # 70 ms of CPU, only for templates
    from jinja2 import Environment

MAX_CHARS: Final = 2 * 1024 * 1024
"""Of any text that a template makes on its way."""
MAX_ROUNDS: Final = 100_000
"""Of all loops of one rendering together."""
MAX_INDENT: Final = 100

METHODS: Final = frozenset(
    {
        "split",
        "rsplit",
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "title",
        "capitalize",
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "count",
        "find",
    }
)
"""Methods of text that may be called: none gives much more than it takes."""


class Rendering(Protocol):
    """What one rendering keeps; in the context under the name `_rendering`."""

    def print(self, value: Any, line: int, labels: str, what: str) -> str:
        """What goes into the text for a value."""
        ...

    def count(self) -> None:
        """One more round of a loop. Raises: OverflowError."""
        ...


def _bounded(text: str) -> str:
    if len(text) > MAX_CHARS:
        raise OverflowError(f"a text of more than {MAX_CHARS} characters")
    return text


def _print(context: Any, value: Any, line: int, labels: str, what: str) -> str:
    rendering: Rendering = context["_rendering"]
    return rendering.print(value, line, labels, what)


def _counted(context: Any, values: Iterable[Any]) -> Iterator[Any]:
    rendering: Rendering = context["_rendering"]
    for value in values:
        rendering.count()
        yield value


def _join(values: Iterable[Any], separator: str = "") -> str:
    parts = [as_text(value) for value in values]
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_CHARS:
        raise OverflowError(f"a text of more than {MAX_CHARS} characters")
    return separator.join(parts)


def _replace(text: str, old: str, new: str) -> str:
    if not isinstance(text, str) or not old:
        raise TypeError("replace needs a text and something to look for")
    if len(text) + text.count(old) * len(new) > MAX_CHARS:
        raise OverflowError(f"a text of more than {MAX_CHARS} characters")
    return text.replace(old, new)


def _indent(text: str, width: int = 4, first: bool = False) -> str:
    if not 0 <= width <= MAX_INDENT:
        raise OverflowError(f"an indentation of {width}, need 0 to {MAX_INDENT}")
    space = " " * width
    lines = _bounded(text).split("\n")
    indented = [space + line if line and (first or number) else line for number, line in enumerate(lines)]
    return _bounded("\n".join(indented))


def _plus(left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        return _join([left, right])
    if isinstance(left, list) and isinstance(right, list) and len(left) + len(right) > MAX_ROUNDS:
        raise OverflowError(f"a list of more than {MAX_ROUNDS} values")
    return left + right


def _times(left: Any, right: Any) -> Any:
    for value, factor in ((left, right), (right, left)):
        if isinstance(value, str | list) and isinstance(factor, int) and len(value) * factor > MAX_ROUNDS:
            raise OverflowError(f"more than {MAX_ROUNDS} of something")
    return left * right


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise TypeError("% formats no text here, use ~ to join")
    return left % right


def _tojson(value: Any) -> str:
    return _bounded(json.dumps(value, ensure_ascii=False))


def as_text(value: Any) -> str:
    """A value as templates print it: none is empty, booleans are small, lists and methods are errors."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return str(value)
        case _:
            return _not_printable(value)


def _not_printable(value: Any) -> str:
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        return str(value)  # raises: undefined is strict
    kind = "a list" if isinstance(value, Sequence) else "a mapping" if isinstance(value, Mapping) else "this"
    raise TypeError(f"{kind} cannot be printed, only texts and numbers (join a list first)")


OWN_FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "tojson": _tojson,
    "_modulo": _modulo,
    "_plus": _plus,
    "_times": _times,
}
_CONTEXT_FILTERS: Final[Mapping[str, Callable[..., Any]]] = {"_print": _print, "_counted": _counted}
_JINJA_FILTERS: Final = (
    "abs",
    "capitalize",
    "count",
    "d",
    "default",
    "first",
    "float",
    "int",
    "last",
    "length",
    "list",
    "lower",
    "max",
    "min",
    "reverse",
    "sort",
    "string",
    "sum",
    "title",
    "trim",
    "truncate",
    "unique",
    "upper",
    "wordcount",
)
_JINJA_TESTS: Final = (
    "boolean",
    "defined",
    "divisibleby",
    "eq",
    "equalto",
    "even",
    "false",
    "float",
    "ge",
    "gt",
    "in",
    "integer",
    "iterable",
    "le",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "sequence",
    "string",
    "true",
    "undefined",
    "upper",
    "==",
    "!=",
    ">",
    "<",
    ">=",
    "<=",
)

FILTERS: Final = frozenset({*OWN_FILTERS, *_CONTEXT_FILTERS, *_JINJA_FILTERS})
TESTS: Final = frozenset(_JINJA_TESTS)


def _bounded_range(*bounds: int) -> range:
    steps = range(*bounds)
    if len(steps) > MAX_ROUNDS:
        raise OverflowError(f"a range of more than {MAX_ROUNDS} numbers")
    return steps


@functools.cache
def environment() -> Environment:
    """The one environment: sandboxed, strict, nothing folded while compiling, nothing global but range."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    made = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        optimized=False,
        autoescape=False,
        cache_size=0,
    )
    known_filters, known_tests = dict(made.filters), dict(made.tests)
    made.filters.clear()
    made.filters.update({name: known_filters[name] for name in _JINJA_FILTERS})
    made.filters.update(OWN_FILTERS)
    made.filters.update({name: jinja2.pass_context(function) for name, function in _CONTEXT_FILTERS.items()})
    made.tests.clear()
    made.tests.update({name: known_tests[name] for name in _JINJA_TESTS})
    made.globals.clear()
    made.globals["range"] = _bounded_range
    return made
