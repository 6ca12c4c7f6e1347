"""Nodes to models: the field's type decides how a text is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, field

from pi_batch.errors import SpecError
from pi_batch.load.decode import INVALID, Decoding, Invalid, NodeRule, Rule, decode_model
from pi_batch.load.nodes import Node, Scalar, Source
from pi_batch.load.problems import Problems, Where
from pi_batch.load.yaml import parse
from pi_batch.spec import SpecModel, Text

SOURCE = Source("f", Path("/f"), "", Path("/"))


class Inner(SpecModel, frozen=True, kw_only=True):
    """A part."""

    text: str = ""
    count: Annotated[int, Meta(ge=1)] = 1


class Outer(SpecModel, frozen=True, kw_only=True):
    """A whole."""

    name: Text
    ratio: Annotated[float, Meta(gt=0)] | None = None
    on: bool = False
    kind: Literal["a", "b"] = "a"
    version: Literal[1, 2] = 1
    words: tuple[str, ...] = ()
    inner: Inner = Inner()
    parts: tuple[Inner, ...] = ()
    by_name: Mapping[str, Inner] = field(default_factory=dict)
    either: bool | tuple[str, ...] = False
    anything: Any = None
    table: Mapping[str, Any] | None = None
    renamed_: str = field(default="", name="renamed")


def decode(
    text: str,
    *,
    rules: Mapping[str, Rule] | None = None,
    node_rules: Mapping[str, NodeRule] | None = None,
    is_partial: bool = False,
) -> Outer | Invalid:
    found = Problems()
    node = parse(text, SOURCE, found)
    assert node is not None
    decoding = Decoding(found, rules or {}, node_rules or {}, {"moved": "it lives elsewhere"}, is_partial)
    made = decode_model(node, Outer, Where(), decoding)
    found.raise_if_any()
    return made


def value(text: str, field: str) -> Any:
    made = decode(f"name: x\n{text}")
    assert isinstance(made, Outer)
    return getattr(made, field)


def lines(text: str, **more: Any) -> list[str]:
    with pytest.raises(SpecError) as caught:
        decode(text, **more)
    return [str(problem).removeprefix("f:") for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("ratio: 2", "ratio", 2.0),
        ("ratio: .5", "ratio", 0.5),
        ("ratio: null", "ratio", None),
        ("ratio:", "ratio", None),
        ("on: true", "on", True),
        ("kind: b", "kind", "b"),
        ("kind: 'b'", "kind", "b"),
        ("version: 2", "version", 2),
        ("words: [no, 1.10, ~x]", "words", ("no", "1.10", "~x")),
        ("words: []", "words", ()),
        ("inner: {count: 0x5}", "inner", Inner(count=5)),
        ("inner: {}", "inner", Inner()),
        ("parts: [{text: a}, {count: 2}]", "parts", (Inner(text="a"), Inner(count=2))),
        ("by_name: {no: {text: 1}}", "by_name", {"no": Inner(text="1")}),
        ("either: true", "either", True),
        ("either: [a, 1]", "either", ("a", "1")),
        ("anything: [1, yes, null, {a: 1.5}]", "anything", [1, "yes", None, {"a": 1.5}]),
        ("table: {a: [true]}", "table", {"a": [True]}),
        ("table: ~", "table", None),
        ("renamed: x", "renamed_", "x"),
    ],
)
def test_each_type_is_read_its_way(text: str, field: str, expected: Any) -> None:
    assert value(text, field) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ratio: x", "2: ratio: got 'x', need a finite number"),
        ("ratio: 0", "2: ratio: got 0, need > 0"),
        ("ratio: -0.5", "2: ratio: got -0.5, need > 0"),
        ("on: 1", "2: on: got '1', need true or false"),
        ("on:", "2: on: got nothing, need true or false"),
        ("kind: c", "2: kind: got 'c', need one of a, b"),
        ("kind: [a]", "2: kind: got a list, need one of a, b"),
        ("version: 3", "2: version: got '3', need one of 1, 2"),
        ("words: {a: b}", "2: words: got a mapping, need a list of texts"),
        ("words: [a, ~]", "2: words[1]: got nothing, need text (put ~ in quotes to mean the word)"),
        ("inner: x", "2: inner: got 'x', need a mapping"),
        ("inner: {count: 0}", "2: inner.count: got 0, need >= 1"),
        ("parts: {text: a}", "2: parts: got a mapping, need a list of mappings"),
        ("parts: [a]", "2: parts[0]: got 'a', need a mapping"),
        ("by_name: [a]", "2: by_name: got a list, need a mapping"),
        ("by_name: {x: {cuont: 1}}", "2: by_name.x.cuont: unknown key, did you mean 'count'?"),
        ("either: x", "2: either: got 'x', need true or false or a list of texts"),
        ("either: {a: b}", "2: either: got a mapping, need true or false or a list of texts"),
        ("either: [[a]]", "2: either[0]: got a list, need text"),
        ("table: x", "2: table: got 'x', need a mapping"),
        ("moved: x", "2: moved: unknown key, it lives elsewhere"),
        ("renamed_: x", "2: renamed_: unknown key, did you mean 'renamed'?"),
    ],
)
def test_each_mistake_is_one_line(text: str, line: str) -> None:
    assert lines(f"name: x\n{text}\n") == [line]


def test_all_mistakes_are_noted() -> None:
    text = "on: 1\nratio: 0\nparts: [{count: 0}, {count: x}, {x: 1}]\n"
    assert lines(text) == [
        "1: on: got '1', need true or false",
        "1: name: missing, need text",
        "2: ratio: got 0, need > 0",
        "3: parts[0].count: got 0, need >= 1",
        "3: parts[1].count: got 'x', need a whole number",
        "3: parts[2].x: unknown key",
    ]


def test_a_partial_mapping_may_lack_what_is_required() -> None:
    assert decode("on: true", is_partial=True) is INVALID
    assert lines("on: 1", is_partial=True) == ["1: on: got '1', need true or false"]


def test_a_rule_sees_values_that_have_their_type() -> None:
    seen: list[Any] = []

    def rule(found: Any) -> str | None:
        seen.append(found)
        return "too many" if isinstance(found, int) and found > 5 else None

    text = "name: x\nparts: [{count: 9}, {count: x}, {count: 3}]\n"
    assert lines(text, rules={"parts[].count": rule}) == [
        "2: parts[0].count: too many",
        "2: parts[1].count: got 'x', need a whole number",
    ]
    assert seen == [9, 3]


def test_a_rule_for_a_node_comes_before_its_type() -> None:
    def refuse(node: Node) -> str | None:
        return "not here" if isinstance(node, Scalar) else None

    rules: Mapping[str, Callable[[Node], str | None]] = {"inner": refuse}
    assert lines("name: x\ninner: y\n", node_rules=rules) == ["2: inner: not here"]
    assert isinstance(decode("name: x\ninner: {text: y}\n", node_rules=rules), Outer)


def test_where_an_alias_stood_nothing_more_is_said() -> None:
    found = Problems()
    node = parse("name: &a x\non: *a\nwords: [*a]\n", SOURCE, found)
    assert node is not None
    before = len(found)
    assert decode_model(node, Outer, Where(), Decoding(found, {}, {}, {})) is INVALID
    assert len(found) == before
