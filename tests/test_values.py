"""The decorator gives what the standard library's gives, only later."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pi_batch
from pi_batch.values import dataclass

Decorator = Callable[[type], Any]
OURS: Decorator = dataclass(frozen=True, slots=True)
THEIRS: Decorator = dataclasses.dataclass(frozen=True, slots=True)
BOTH = pytest.mark.parametrize("decorate", [OURS, THEIRS], ids=["ours", "the standard library's"])


@dataclass(frozen=True, slots=True)
class Point:
    """At module level, so that pickle finds it."""

    x: int
    y: int = 0
    names: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place(Point):
    """With a base that is a value."""

    z: int = 3


def made(decorate: Decorator) -> Any:
    """A class with one field of each kind."""

    class Value:
        """What it is."""

        name: str
        count: int = 1
        items: list[int] = field(default_factory=list)
        unseen: int = field(default=0, repr=False)
        uncompared: int = field(default=0, compare=False)
        unhashed: int = field(default=0, hash=False)

    return decorate(Value)


@BOTH
def test_arguments_are_taken_by_place_and_by_name(decorate: Decorator) -> None:
    value = made(decorate)("a", 2, unseen=3)
    assert (value.name, value.count, value.items, value.unseen, value.uncompared) == ("a", 2, [], 3, 0)


@BOTH
def test_each_instance_gets_a_default_of_its_own(decorate: Decorator) -> None:
    value = made(decorate)
    assert value("a").items is not value("a").items


@BOTH
@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, "missing 1 required positional argument: 'name'"),
        (("a",), {"name": "b"}, "multiple values for argument 'name'"),
        (("a",), {"other": 1}, "unexpected keyword argument 'other'"),
        (("a",) * 7, {}, "positional argument"),
    ],
)
def test_wrong_arguments_are_refused_in_the_same_words(
    decorate: Decorator, arguments: tuple[str, ...], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        made(decorate)(*arguments, **named)


@BOTH
def test_a_value_is_never_altered(decorate: Decorator) -> None:
    value = made(decorate)("a")
    for name in ("name", "other"):
        with pytest.raises((FrozenInstanceError, TypeError)):
            setattr(value, name, "b")
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del value.name
    assert value.name == "a"


@BOTH
def test_a_changed_value_is_a_new_one(decorate: Decorator) -> None:
    value = made(decorate)("a")
    changed = replace(value, count=9)
    assert (changed.name, changed.count, value.count) == ("a", 9, 1)


@BOTH
def test_equality_is_of_class_and_compared_fields(decorate: Decorator) -> None:
    value, other = made(decorate), made(decorate)
    assert value("a", uncompared=1) == value("a", uncompared=2)
    assert value("a") != value("b")
    assert value("a") != other("a")
    assert value("a") != "a"


@BOTH
def test_the_hash_leaves_out_what_is_not_hashed(decorate: Decorator) -> None:
    class Value:
        """Hashable all over."""

        name: str
        uncompared: int = field(default=0, compare=False)
        unhashed: int = field(default=0, hash=False)

    kind = decorate(Value)
    assert hash(kind("a", 1, 2)) == hash(kind("a", 3, 4)) == hash(("a",))


@BOTH
def test_an_unhashable_field_makes_the_value_unhashable(decorate: Decorator) -> None:
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        hash(made(decorate)("a"))


@BOTH
def test_the_repr_names_the_fields(decorate: Decorator) -> None:
    shown = repr(made(decorate)("a", 2))
    assert shown.endswith(".Value(name='a', count=2, items=[], uncompared=0, unhashed=0)")


@BOTH
def test_a_value_matches_by_place(decorate: Decorator) -> None:
    kind = made(decorate)
    match kind("a", 2):
        case kind(name, count):
            assert (name, count) == ("a", 2)
        case _:
            pytest.fail("no match")


@BOTH
def test_what_is_done_after_the_start_sees_the_fields(decorate: Decorator) -> None:
    class Value:
        """Checks itself."""

        low: int
        high: int = 0

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("low > high")

    kind = decorate(Value)
    kind(1, 2)
    with pytest.raises(ValueError, match="low > high"):
        kind(1)


@BOTH
def test_own_methods_are_kept(decorate: Decorator) -> None:
    class Value:
        """Shows itself."""

        name: str

        def __repr__(self) -> str:
            return self.name

    assert repr(decorate(Value)("a")) == "a"


@BOTH
def test_there_is_no_room_for_other_attributes(decorate: Decorator) -> None:
    value = made(decorate)("a")
    assert not hasattr(value, "__dict__")
    with pytest.raises((AttributeError, TypeError)):
        object.__setattr__(value, "other", 1)


@BOTH
def test_the_class_says_what_it_is(decorate: Decorator) -> None:
    kind = made(decorate)
    params = kind.__dataclass_params__
    assert kind.__doc__ == "What it is."
    assert (params.frozen, params.eq, params.repr, params.init) == (True, True, True, True)
    assert list(inspect.signature(kind).parameters) == [one.name for one in dataclasses.fields(kind)]


@BOTH
def test_methods_have_names_of_their_class(decorate: Decorator) -> None:
    kind = made(decorate)
    assert kind.__init__.__qualname__.endswith("Value.__init__")
    assert kind("a").__eq__.__qualname__.endswith("Value.__eq__")


def test_a_method_is_written_once() -> None:
    kind = made(OURS)
    assert kind.__init__ is kind.__init__
    assert kind("a").__eq__.__func__ is kind("b").__eq__.__func__


@BOTH
def test_a_subclass_that_is_no_value_finds_the_methods(decorate: Decorator) -> None:
    class Special(made(decorate)):  # type: ignore[misc]
        """Only a name."""

    assert Special("a", 2).count == 2
    assert Special("a") == Special("a")
    assert Special("a") != made(decorate)("a")


def test_a_value_may_extend_a_value() -> None:
    assert Place(1, z=4) == Place(1, 0, {}, 4)
    assert Place(1) != Point(1)
    with pytest.raises(FrozenInstanceError):
        Place(1).z = 2  # type: ignore[misc]


@given(x=st.integers(), y=st.integers(), names=st.dictionaries(st.text(), st.integers()))
def test_copies_and_pickles_are_equal(x: int, y: int, names: dict[str, int]) -> None:
    value = Place(x, y, names)
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), replace(value)):
        assert twin == value
        assert type(twin) is Place


@pytest.mark.parametrize("unusual", [field(init=False, default=1), field(kw_only=True, default=1)])
def test_fields_that_are_no_plain_parameters_are_refused(unusual: Any) -> None:
    with pytest.raises(TypeError, match="needs the standard library's dataclass"):
        OURS(type("Value", (), {"__annotations__": {"a": "int"}, "a": unusual}))


def test_other_options_are_the_standard_librarys() -> None:
    @dataclass(frozen=True, slots=True, order=True)
    class Line:
        """Comes before the next one."""

        number: int

    @dataclass
    class Count:
        """May be altered."""

        number: int = 0

    assert Line(1) < Line(2)
    count = Count()
    count.number += 1
    assert count == Count(1)


def test_no_frozen_value_of_the_program_is_made_by_the_standard_library() -> None:
    found = []
    for path in sorted(Path(pi_batch.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
            for name in node.names
        }
        made_frozen = any("@dataclass(frozen=True, slots=True)" in line for line in _decorators(tree))
        if "dataclass" in imported and made_frozen:
            found.append(path.name)
    assert not found, "import dataclass from pi_batch.values: it is written when it is used"


def _decorators(tree: ast.AST) -> list[str]:
    return [
        f"@{ast.unparse(decorator)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
    ]
