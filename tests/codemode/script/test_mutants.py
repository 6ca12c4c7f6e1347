"""Each guard carries weight: with it switched off, a script of the corpus gets through.

Our own functions are replaced here and nowhere else: that is what a mutant is.
"""

from __future__ import annotations

import builtins
import importlib
import operator
import os
from collections.abc import Callable
from typing import Any, Final

import pytest

from pi_batch.codemode.script import builtin_names, guards
from pi_batch.codemode.script import run as running
from pi_batch.codemode.script.classes import Classes
from pi_batch.codemode.script.guards import Guards
from pi_batch.codemode.script.policy import Policy
from tests.codemode.corpus.escapes import MARK, scripts
from tests.codemode.script.hosts import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

Mutate = Callable[[pytest.MonkeyPatch], None]


def _native(_self: Guards, obj: Any, *rest: Any) -> Any:
    return getattr(obj, rest[-1])


def _dunders(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Guards, "_dunder", _native)


def _dynamic_names(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(guards, "_NAMED", frozenset({"__class__", "__cla" + "ss__"}))


def _special(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Guards, "_special", _native)


def _patterns(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Policy, "_native_attribute", staticmethod(lambda _node, _name: None))


def _names(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Policy, "_name", lambda _self, _node, _name: None)


def _writes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Guards, "write", lambda _self, obj: obj)


def _fields(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Classes, "register", lambda self, kind: self._guards.adopt(kind) or kind)
    patch.setattr("pi_batch.codemode.script.classes._is_unreadable", lambda _name: False)


def _types(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(builtin_names, "TypeOf", lambda _guards: builtins.type)


def _modules(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(running._Run, "_import", lambda _self, name, _is_named: importlib.import_module(name))
    patch.setattr(
        running._Run, "_import_from", lambda _self, name, key: getattr(importlib.import_module(name), key)
    )


def _getter(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(running._Run, "_attrgetter", lambda _self, *names: operator.attrgetter(*names))
    patch.setattr(running._Run, "_methodcaller", lambda _self, *args: operator.methodcaller(*args))


def _exact_names(patch: pytest.MonkeyPatch) -> None:
    def read(self: Guards, obj: Any, name: Any) -> Any:
        return getattr(obj, name) if type(name) is not str else plain(self, obj, name)

    plain = Guards.getattr
    patch.setattr(Guards, "getattr", read)


MUTANTS: Final[dict[str, Mutate]] = {
    "names with two underscores are read": _dunders,
    "names that are values may have two underscores": _dynamic_names,
    "special attributes are read natively": _special,
    "patterns read any attribute": _patterns,
    "any name can be bound": _names,
    "anything can be written to": _writes,
    "fields may have any name": _fields,
    "the real type()": _types,
    "whole modules": _modules,
    "the real attrgetter and methodcaller": _getter,
    "attribute names may be a script's own kind of text": _exact_names,
}
"""The rule of types alone lets nothing through: host functions are opaque and immutable by themselves. The
list of bases neither: what it keeps out has no attribute that the guard would give."""


def hits(mutate: Mutate | None = None) -> list[str]:
    """Scripts that got through, run in a process of their own: what gets through changes real modules."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if mutate is not None:
                mutate(pytest.MonkeyPatch())
            found = [name for name, source in scripts() if MARK in run(source).text]
            os.write(writer, "\n".join(found)[:60_000].encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text.split("\n") if text else []


def test_without_a_mutation_nothing_gets_through() -> None:
    assert hits() == []


@pytest.mark.parametrize("name", MUTANTS)
def test_a_guard_that_is_off_lets_something_through(name: str) -> None:
    assert hits(MUTANTS[name]) != []
