"""Matrices: combinations, counted before they are made."""

from __future__ import annotations

from pathlib import Path

from pi_batch.load.matrix import NO_MATRIX, Matrix, read_matrix
from pi_batch.load.nodes import Fields, Source
from pi_batch.load.problems import Problems
from pi_batch.load.yaml import parse

SOURCE = Source("a.yaml", Path("/a.yaml"), "", Path("/"))


def matrix(text: str) -> Matrix:
    found = Problems()
    node = parse(text, SOURCE, found)
    assert isinstance(node, Fields)
    made = read_matrix(node, found)
    found.raise_if_any()
    return made


def texts(made: Matrix, *names: str) -> list[dict[str, str]]:
    return [
        {name: node.text for name, node in choice.items()} for choice in made.combinations(frozenset(names))
    ]


def test_nothing_varies_in_one_way() -> None:
    assert texts(NO_MATRIX) == [{}]
    assert NO_MATRIX.count(frozenset("a")) == 1


def test_combinations_come_in_the_order_written() -> None:
    made = matrix("inputs: {b: [x, y], a: [1, 2]}")
    assert texts(made, "a", "b") == [
        {"b": "x", "a": "1"},
        {"b": "x", "a": "2"},
        {"b": "y", "a": "1"},
        {"b": "y", "a": "2"},
    ]
    assert made.count(frozenset("ab")) == 4


def test_only_what_a_task_declares_varies() -> None:
    made = matrix("model: [fake/a]\na: [1, 2]\nb: [3]")
    assert texts(made, "b", "z") == [{"b": "3"}]
    assert made.count(frozenset({"a"})) == 2
    assert made.models == ("fake/a",)


def test_values_keep_their_texts() -> None:
    assert texts(matrix("python: [3.10, 3.9, no]"), "python") == [
        {"python": "3.10"},
        {"python": "3.9"},
        {"python": "no"},
    ]


def test_places_are_remembered_for_messages() -> None:
    made = matrix("a: [1]\ninputs: {b: [2]}")
    assert {name: str(where) for name, where in made.where.items()} == {
        "a": "matrix.a",
        "b": "matrix.inputs.b",
    }
