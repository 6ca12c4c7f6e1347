"""Texts as values by the core schema of YAML 1.2."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.load.nodes import Entry, Fields, Items, Scalar, Source
from pi_batch.load.scalars import MAX_DIGITS, as_boolean, as_integer, as_number, core_value

SOURCE = Source("a", Path("/a"), "", Path("/"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-1", -1),
        ("+7", 7),
        ("012", 12),
        ("0x1f", 31),
        ("0o17", 15),
        ("9" * MAX_DIGITS, int("9" * MAX_DIGITS)),
    ],
)
def test_whole_numbers(text: str, value: int) -> None:
    assert as_integer(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1_000",
        "1,000",
        "1.0",
        "1e3",
        "0b1",
        "0x",
        "\u0661",
        "\u00b2",
        "--1",
        "9" * 5000,
        "-0x1f",
    ],
)
def test_what_is_no_whole_number(text: str) -> None:
    assert as_integer(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-3", -0.0015), ("3", 3)],
)
def test_numbers(text: str, value: float) -> None:
    assert as_number(text) == value


@pytest.mark.parametrize(
    "text", [".", "e3", ".inf", "inf", "nan", ".NaN", "1e999", "0x1p3", "1.5.2", "1_0.0", "12:30"]
)
def test_what_is_no_finite_number(text: str) -> None:
    assert as_number(text) is None


def test_there_are_two_booleans() -> None:
    assert [as_boolean(text) for text in ("true", "false", "True", "yes", "on", "1", "")] == [True, False] + [
        None
    ] * 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("null", None), ("~", None), ("", None), ("Null", None), ("NULL", None)],
        *[("true", True), ("TRUE", True), ("False", False)],
        *[("yes", "yes"), ("off", "off"), ("nULL", "nULL"), ("2026-01-01", "2026-01-01")],
        *[("3", 3), ("3.5", 3.5), (".inf", ".inf"), ("0x10", 16)],
    ],
)
def test_a_plain_scalar_by_the_core_schema(text: str, value: Any) -> None:
    found = core_value(Scalar(SOURCE, 1, text))
    assert found == value
    assert type(found) is type(value)


def test_quotes_keep_a_text() -> None:
    assert [core_value(Scalar(SOURCE, 1, text, "quoted")) for text in ("3", "true", "null")] == [
        "3",
        "true",
        "null",
    ]


def test_trees_become_lists_and_mappings() -> None:
    tree = Fields(SOURCE, 1, (Entry("3", 1, Items(SOURCE, 1, (Scalar(SOURCE, 1, "3"),))),))
    assert core_value(tree) == {"3": [3]}


@given(st.text(max_size=30))
def test_no_text_is_beyond_reading(text: str) -> None:
    whole, number = as_integer(text), as_number(text)
    assert whole is None or number == whole
    assert number is None or math.isfinite(number)
