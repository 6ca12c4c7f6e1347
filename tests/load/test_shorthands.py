"""Shorthands written out, with the lines they were written on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.load.nodes import Fields, Node, Scalar, Source, descend
from pi_batch.load.problems import Problems
from pi_batch.load.scalars import core_value
from pi_batch.load.shorthands import written_out
from pi_batch.load.yaml import parse

SOURCE = Source("a.yaml", Path("/a.yaml"), "", Path("/"))


def out(text: str) -> Fields:
    node = parse(text, SOURCE, Problems())
    assert isinstance(node, Fields)
    return written_out(node)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("system: x", {"system": {"append": "x"}}),
        ("system: {replace: x}", {"system": {"replace": "x"}}),
        ("system: 3", {"system": {"append": 3}}),
        ("verify: make", {"verify": [{"name": "make", "run": "make"}]}),
        ("verify: [make]", {"verify": [{"name": "make", "run": "make"}]}),
        (
            "verify: [{run: make, timeout_s: 3}]",
            {"verify": [{"name": "make", "run": "make", "timeout_s": 3}]},
        ),
        ("verify: [{name: x, run: make}]", {"verify": [{"name": "x", "run": "make"}]}),
        ("verify: []", {"verify": []}),
        ("prompt: x", {"prompt": "x"}),
    ],
)
def test_what_is_written_out(text: str, tree: object) -> None:
    assert core_value(out(text)) == tree


@pytest.mark.parametrize(
    "text", ["system:", "verify:", "system: [x]", "verify: {run: x}", "verify: [[x], ~]"]
)
def test_what_is_no_shorthand_is_left_for_its_mistake(text: str) -> None:
    node = parse(text, SOURCE, Problems())
    assert node is not None
    before, after = core_value(node), core_value(out(text))
    assert after == before or text == "verify: [[x], ~]"


def test_every_part_keeps_its_line() -> None:
    node = out("prompt: x\nverify:\n  - make\n  - run: test\nsystem: y\n")

    def line(*steps: str | int) -> int:
        found: Node | None = descend(node, steps)
        assert isinstance(found, Scalar)
        return found.line

    assert line("verify", 0, "run") == 3
    assert line("verify", 0, "name") == 3
    assert line("verify", 1, "run") == 4
    assert line("system", "append") == 5


def test_names_given_later_are_not_taken_by_shorthands() -> None:
    tree = core_value(out("verify: [make, make, {name: check-2, run: a}, {name: make, run: b}]"))
    names = [check["name"] for check in tree["verify"]]
    assert len(set(names)) == 4
    assert names[2:] == ["check-2", "make"]
