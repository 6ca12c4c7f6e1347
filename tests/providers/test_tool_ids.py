"""Ids fit each wire, stay paired, and are unique."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.providers.tool_ids import (
    ALNUM9_IDS,
    CHAT_IDS,
    MESSAGES_IDS,
    IdShape,
    WireIds,
    gemini_tool_name,
    tool_name,
    unique_ids,
)

SHAPES = [CHAT_IDS, MESSAGES_IDS, ALNUM9_IDS]


@pytest.mark.parametrize(
    ("shape", "call_id"),
    [
        (CHAT_IDS, "call_abc"),
        (CHAT_IDS, "functions.read:0"),
        (MESSAGES_IDS, "toolu_01A-b"),
        (ALNUM9_IDS, "abc123XYZ"),
    ],
)
def test_an_id_that_fits_is_kept(shape: IdShape, call_id: str) -> None:
    ids = WireIds(shape)
    assert ids.call(call_id) == call_id
    assert ids.result(call_id) == call_id


@pytest.mark.parametrize("call_id", ["a|b+c/d=", "x" * 450, "", "ä" * 70, "a\nb", "\ud800"])
@pytest.mark.parametrize("shape", SHAPES)
def test_any_id_is_made_to_fit_and_its_result_has_the_same(shape: IdShape, call_id: str) -> None:
    ids = WireIds(shape)
    wire = ids.call(call_id)
    assert shape.pattern.match(wire)
    assert ids.result(call_id) == wire


def test_ids_that_differ_after_the_cap_stay_apart() -> None:
    ids = WireIds(CHAT_IDS)
    assert ids.call("x" * 60 + "a") != ids.call("x" * 60 + "b")


@pytest.mark.parametrize("shape", SHAPES)
def test_an_id_used_again_in_a_later_turn_becomes_another(shape: IdShape) -> None:
    ids = WireIds(shape)
    first = ids.call("call_0")
    assert ids.result("call_0") == first
    second = ids.call("call_0")
    assert ids.result("call_0") == second
    assert len({first, second, ids.call("call_0")}) == 3


@given(st.lists(st.text(max_size=60), max_size=30), st.sampled_from(SHAPES))
def test_the_same_calls_get_the_same_ids_and_all_differ(call_ids: list[str], shape: IdShape) -> None:
    first, second = WireIds(shape), WireIds(shape)
    wires = [first.call(call_id) for call_id in call_ids]
    assert wires == [second.call(call_id) for call_id in call_ids]
    assert len(set(wires)) == len(wires)


def test_empty_and_repeated_ids_are_made_up_anew() -> None:
    ids = unique_ids(["", "a", "a", "b"], {"b"})
    assert ids[1] == "a"
    assert len(set(ids)) == 4
    assert "b" not in ids
    for made in (ids[0], ids[2], ids[3]):
        assert re.fullmatch(r"call_[0-9a-f]{24}", made)


def test_invented_tool_names_are_made_to_fit() -> None:
    assert tool_name("read") == "read"
    assert tool_name("functions.read file!") == "functions_read_file_"
    assert tool_name("") == "unnamed"
    assert len(tool_name("x" * 100)) == 64


def test_gemini_names_begin_with_a_letter_and_are_shorter_than_64() -> None:
    assert gemini_tool_name("read") == "read"
    assert gemini_tool_name("7zip") == "_7zip"
    assert gemini_tool_name("-x") == "_-x"
    long, other = (gemini_tool_name("n" * 63 + letter) for letter in "ab")
    assert len(long) == len(other) == 63
    assert long != other
