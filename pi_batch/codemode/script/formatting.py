"""`str.format` for scripts: the same language, with every attribute read through the guard.

Source: Python's "Format String Syntax"; the parser is the interpreter's own.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_NESTING = 2

Read = Callable[[Any, str], Any]


def formatter(text: str, method: str, read: Read) -> Callable[..., str]:
    """The bound `format` or `format_map` of a text."""
    template = str.__str__(text)
    if method == "format_map":
        return lambda mapping: _Fields((), mapping, read).render(template, MAX_NESTING)
    return lambda *args, **kwargs: _Fields(args, kwargs, read).render(template, MAX_NESTING)


class _Fields:
    """The values of one call, and how far automatic numbering has come."""

    def __init__(self, args: Sequence[Any], named: Mapping[str, Any], read: Read) -> None:
        self._args = args
        self._named = named
        self._read = read
        self._next: int | None = 0
        """None once fields were numbered by hand."""
        self._is_automatic = False

    def render(self, template: str, nesting: int) -> str:
        """The text with its fields filled in."""
        if nesting < 0:
            raise ValueError("Max string recursion exceeded")
        pieces: list[str] = []
        for literal, field, spec, conversion in _string.formatter_parser(template):
            pieces.append(literal)
            if field is None:
                continue
            value = _converted(self._value(field), conversion)
            pieces.append(format(value, self.render(spec or "", nesting - 1)))
        return "".join(pieces)

    def _value(self, field: str) -> Any:
        first, rest = _string.formatter_field_name_split(field)
        value = self._first(first)
        for is_attribute, name in rest:
            value = self._read(value, str(name)) if is_attribute else value[name]
        return value

    def _first(self, first: Any) -> Any:
        if first == "":
            if self._next is None:
                raise ValueError("cannot switch from manual field specification to automatic field numbering")
            first, self._next, self._is_automatic = self._next, self._next + 1, True
        elif isinstance(first, int):
            if self._is_automatic:
                raise ValueError("cannot switch from automatic field numbering to manual field specification")
            self._next = None
        if isinstance(first, int):
            if first >= len(self._args):
                raise IndexError(f"Replacement index {first} out of range for positional args tuple")
            return self._args[first]
        return self._named[first]


def _converted(value: Any, conversion: str | None) -> Any:
    match conversion:
        case None | "":
            return value
        case "s":
            return str(value)
        case "r":
            return repr(value)
        case "a":
            return ascii(value)
    raise ValueError(f"Unknown conversion specifier {conversion!r}")
