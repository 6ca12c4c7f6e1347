"""Problems: one line each, each once, in the order of the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import SpecError
from pi_batch.load.nodes import Scalar, Source
from pi_batch.load.problems import Problems, Where


def at(line: int, name: str = "a.yaml") -> Scalar:
    return Scalar(Source(name, Path("/") / name, "", Path("/")), line, "x")


def lines(found: Problems) -> list[str]:
    with pytest.raises(SpecError) as caught:
        found.raise_if_any()
    return str(caught.value).split("\n")


def test_a_way_is_written_with_dots_and_brackets() -> None:
    where = Where("tasks[0]").down("verify").down(1).down("run")
    assert str(where) == "tasks[0].verify[1].run"
    assert where.rule_key == "verify[].run"
    assert str(Where("tasks[0]")) == "tasks[0]"
    assert str(Where()) == ""


def test_a_strange_key_stays_on_one_line_and_short() -> None:
    assert str(Where().down("a\nb").down("").down("x" * 100)) == f"a\\nb.''.{'x' * 57}..."


def test_no_problems_raise_nothing() -> None:
    found = Problems()
    found.raise_if_any()
    assert not found
    assert len(found) == 0


def test_problems_are_sorted_by_line_within_files_in_their_order() -> None:
    found = Problems()
    found.add(at(5, "b.yaml"), Where().down("x"), "one")
    found.add(at(9, "a.yaml"), Where().down("x"), "two")
    found.add(at(2, "b.yaml"), Where().down("y"), "three")
    found.add_plain("a.yaml", "four")
    assert lines(found) == ["b.yaml:2: y: three", "b.yaml:5: x: one", "a.yaml: four", "a.yaml:9: x: two"]


def test_the_same_field_of_the_same_place_is_told_once() -> None:
    found = Problems()
    found.add(at(3), Where("defaults").down("x"), "wrong")
    found.add(at(3), Where("tasks[0]").down("x"), "wrong")
    found.add(at(3), Where("tasks[1]").down("x"), "also wrong")
    assert lines(found) == ["a.yaml:3: defaults.x: wrong", "a.yaml:3: tasks[1].x: also wrong"]


def test_a_problem_may_be_on_another_line_than_its_node() -> None:
    found = Problems()
    found.add(at(3), Where(), "wrong", line=7)
    assert lines(found) == ["a.yaml:7: wrong"]


def test_collections_can_be_joined() -> None:
    one, two = Problems(), Problems()
    one.add_plain("a", "x")
    two.add_plain("a", "x")
    two.add_plain("b", "y")
    one.extend(two)
    assert lines(one) == ["a: x", "b: y"]
    assert len(two) == 2
