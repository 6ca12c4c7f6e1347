"""Trees of nodes: finding, walking, merging."""

from __future__ import annotations

from pathlib import Path

from pi_batch.load.nodes import Entry, Fields, Items, Node, Scalar, Source, descend, got, merge, walk
from pi_batch.load.problems import Problems
from pi_batch.load.scalars import core_value
from pi_batch.load.yaml import parse

SOURCE = Source("a.yaml", Path("/a.yaml"), "", Path("/"))


def tree(text: str) -> Fields:
    node = parse(text, SOURCE, Problems())
    assert isinstance(node, Fields)
    return node


def test_a_way_down_leads_to_a_node() -> None:
    node = tree("a: [x, {b: y}]")
    found = descend(node, ("a", 1, "b"))
    assert isinstance(found, Scalar)
    assert found.text == "y"
    assert descend(node, ()) is node


def test_a_way_that_is_not_there_leads_nowhere() -> None:
    node = tree("a: [x]")
    for steps in (("b",), ("a", 1), ("a", "x"), ("a", 0, "x"), ("a", 0, 0)):
        assert descend(node, steps) is None
    assert descend(None, ("a",)) is None


def test_a_walk_meets_every_node() -> None:
    texts = {node.text for node in walk(tree("a: [x, {b: y}]\nc: z")) if isinstance(node, Scalar)}
    assert texts == {"x", "y", "z"}


def test_keys_can_be_left_out_and_replaced() -> None:
    node = tree("a: 1\nb: 2")
    assert [entry.key for entry in node.without("a").entries] == ["b"]
    other = Scalar(SOURCE, 9, "x")
    assert node.replacing("a", other).get("a") is other
    assert node.get("a") is not other


def test_null_is_written_in_three_ways_and_never_in_quotes() -> None:
    nulls = tree("a:\nb: ~\nc: null\nd: ''\ne: 'null'\nf: Null")
    assert [entry.node.is_null for entry in nulls.entries if isinstance(entry.node, Scalar)] == [
        *(True, True, True),
        *(False, False, False),
    ]


def test_a_node_is_named_in_a_word() -> None:
    assert [got(entry.node) for entry in tree("a: x\nb: [x]\nc: {x: y}\nd:").entries] == [
        *("'x'", "a list", "a mapping", "nothing")
    ]


def merged(defaults: str, over: str, *whole: tuple[str, ...]) -> object:
    return core_value(merge(tree(defaults), tree(over), whole=frozenset(whole)))


def test_mappings_merge_and_everything_else_replaces() -> None:
    assert merged("a: {b: 1, c: 2}\nd: [1]\ne: 5", "a: {c: 3}\nd: [2]\nf: 6") == {
        "a": {"b": 1, "c": 3},
        "d": [2],
        "f": 6,
        "e": 5,
    }


def test_kinds_that_differ_replace() -> None:
    assert merged("a: {b: 1}\nc: x", "a: x\nc: {d: 1}") == {"a": "x", "c": {"d": 1}}


def test_a_mapping_that_is_one_value_replaces() -> None:
    assert merged("a: {b: {c: 1}}", "a: {b: {d: 2}}", ("a", "b")) == {"a": {"b": {"d": 2}}}
    assert merged("a: {b: {c: 1}}", "a: {b: {d: 2}}") == {"a": {"b": {"c": 1, "d": 2}}}


def test_a_merged_leaf_is_the_node_that_was_written() -> None:
    defaults, over = tree("a: {b: 1}"), tree("a: {c: 2}")
    both = merge(defaults, over, whole=frozenset())
    assert descend(both, ("a", "b")) is descend(defaults, ("a", "b"))
    assert descend(both, ("a", "c")) is descend(over, ("a", "c"))


def test_merging_leaves_both_as_they_were() -> None:
    defaults, over = tree("a: {b: 1}"), tree("a: {c: 2}")
    before = (core_value(defaults), core_value(over))
    merge(defaults, over, whole=frozenset())
    assert (core_value(defaults), core_value(over)) == before


def test_nodes_are_values() -> None:
    node: Node = Items(SOURCE, 1, (Scalar(SOURCE, 1, "x"),))
    assert node == Items(SOURCE, 1, (Scalar(SOURCE, 1, "x"),))
    assert Entry("a", 1, node) == Entry("a", 1, node)
