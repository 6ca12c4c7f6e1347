"""What was made of frozen values, kept for the next time: reports are written anew after every task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Remembers by identity what was made of the values of the last call, and of no others."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, T]] = {}
        """By id, with the value itself: as long as it is held here, nothing else has its id."""

    def each(self, values: Iterable[Any], make: Callable[[Any], T]) -> list[T]:
        """What `make` gives for each of these frozen values."""
        made: dict[int, tuple[Any, T]] = {}
        given = list(values)
        for value in given:
            known = made.get(id(value)) or self._made.get(id(value))
            made[id(value)] = known or (value, make(value))
        self._made = made
        return [made[id(value)][1] for value in given]
