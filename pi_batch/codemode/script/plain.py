"""Values on their way out of a script, copied into exact JSON types by the base classes' own methods.

A subclass of the script's own can lie about everything; the base class's method reads what is really there.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, Final

MAX_DEPTH: Final = 60
MAX_ITEMS: Final = 1_000_000
_BIG: Final = 2**63


class NotPlain(ValueError):
    """A value that is no JSON, and where it stands."""


def strict(value: Any, where: str = "value") -> Any:
    """A copy in JSON's own types; tuples become lists. Raises: NotPlain."""
    return _Copy(_refuse).of(value, where, 0)


def lenient(value: Any, show: Callable[[Any], str] = repr) -> Any:
    """The same, where what is no JSON becomes something that is: sets lists, bytes base64, the rest its text.

    Raises: NotPlain for what is nested too deeply or holds too much.
    """
    copy = _Copy(lambda odd, at: odd)
    copy.odd = lambda odd, at: _shown(copy, odd, at, show)
    return copy.of(value, "value", 0)


class _Copy:
    """One copy, with a count of what it holds."""

    def __init__(self, odd: Callable[[Any, str], Any]) -> None:
        self.odd = odd
        self.depth = 0
        self._count = 0

    def of(self, value: Any, where: str, depth: int) -> Any:
        """A copy of one value."""
        self._count += 1
        self.depth = depth
        if depth > MAX_DEPTH:
            raise NotPlain(f"{where}: nested more than {MAX_DEPTH} levels deep")
        if self._count > MAX_ITEMS:
            raise NotPlain(f"{where}: more than {MAX_ITEMS:,} items")
        if value is None or value is True or value is False:
            return value
        if isinstance(value, Enum):
            return self.odd(value, where)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return _number(int.__int__(value))
        if isinstance(value, float):
            number = float.__float__(value)
            return number if math.isfinite(number) else self.odd(number, where)
        if isinstance(value, dict):
            return {
                self._key(key, where): self.of(item, f"{where}[{_brief(key)}]", depth + 1)
                for key, item in list(dict.items(value))
            }
        if isinstance(value, list | tuple):
            items = list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)
            return [self.of(item, f"{where}[{number}]", depth + 1) for number, item in enumerate(list(items))]
        return self.odd(value, where)

    def _key(self, key: Any, where: str) -> str:
        """A key as JSON has it: text; numbers and the like in JSON's spelling."""
        if isinstance(key, str):
            return str.__str__(key)
        if key is None or isinstance(key, bool):
            return {None: "null", True: "true", False: "false"}[key]
        if isinstance(key, int):
            return int.__repr__(key)
        if isinstance(key, float):
            return float.__repr__(key)
        shown = self.odd(key, f"a key of {where}")
        return shown if isinstance(shown, str) else str(shown)


def _number(number: int) -> Any:
    """JSON's readers take 64 bits; a longer number keeps its digits as text."""
    return number if -_BIG <= number < 2 * _BIG else _digits(number)


def _digits(number: int) -> str:
    try:
        return str(number)
    except ValueError:  # more digits than the interpreter writes
        return hex(number)


def _refuse(odd: Any, where: str) -> Any:
    kind = type(odd).__name__
    raise NotPlain(f"{where}: {kind} is no JSON: give text, numbers, True, False, None, lists or dicts")


def _shown(copy: _Copy, odd: Any, where: str, show: Callable[[Any], str]) -> Any:
    """What stands for a value that is no JSON."""
    depth = copy.depth + 1
    if isinstance(odd, Enum):
        return copy.of(odd.value, where, depth)
    if isinstance(odd, float):
        return float.__repr__(odd)
    if isinstance(odd, set | frozenset):
        items = list(set.__iter__(odd) if isinstance(odd, set) else frozenset.__iter__(odd))
        with suppress(Exception):  # a script's own comparison, or none
            items = sorted(items)
        return [copy.of(item, where, depth) for item in items]
    if isinstance(odd, bytes | bytearray):
        return base64.b64encode(bytes(odd)).decode("ascii")
    if dataclasses.is_dataclass(odd) and not isinstance(odd, type):
        names = [field.name for field in dataclasses.fields(odd)]
        held = object.__getattribute__(odd, "__dict__") if hasattr(odd, "__dict__") else {}
        return {name: copy.of(held.get(name), f"{where}.{name}", depth) for name in names}
    if isinstance(odd, range) or type(odd) in (type({}.keys()), type({}.values())):
        return [copy.of(item, where, depth) for item in list(odd)[:MAX_ITEMS]]
    return show(odd)


def _brief(key: Any) -> str:
    return repr(str.__str__(key))[:40] if isinstance(key, str) else "..."
