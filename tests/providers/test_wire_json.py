"""JSON out is valid whatever the history holds; JSON in counts only as a whole."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.providers.pieces import Pieces
from pi_batch.providers.wire_json import dumps, loads, parse_arguments


def test_json_is_compact_utf8_without_escapes() -> None:
    assert dumps({"a": ["ü", 1, None]}) == '{"a":["ü",1,null]}'.encode()


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert dumps({"a": "x\ud83dy"}) == '{"a":"x\ufffdy"}'.encode()


def test_surrogates_that_belong_together_become_one_character() -> None:
    assert dumps("\ud83d\ude00") == '"😀"'.encode()


def test_numbers_that_json_lacks_become_null() -> None:
    assert dumps({"a": [float("nan"), float("inf"), 1.5], "b": (1,)}) == b'{"a":[null,null,1.5],"b":[1]}'


def test_frozen_mappings_are_objects() -> None:
    assert dumps({"a": MappingProxyType({"b": 1})}) == b'{"a":{"b":1}}'


@given(st.recursive(st.none() | st.text() | st.floats() | st.characters(categories=["Cs"]), st.lists))
def test_whatever_goes_out_is_valid_utf8_json(value: object) -> None:
    json.loads(dumps(value).decode("utf-8"), parse_constant=pytest.fail)


def test_event_data_is_read_with_blanks_around_it() -> None:
    assert loads(b'{"a":1}') == {"a": 1}
    assert loads(b' \t{"a":1} ') == {"a": 1}


@pytest.mark.parametrize("data", [b"", b" ", b"{", b"x", b'{"a":1} x', b"[" * 100_000])
def test_other_data_is_none(data: bytes) -> None:
    assert loads(data) is None


def test_bad_utf8_in_event_data_is_replaced() -> None:
    assert loads(b'{"a":"\xff"}') == {"a": "\ufffd"}


def test_no_arguments_at_all_are_an_empty_object() -> None:
    assert parse_arguments("") == {}
    assert parse_arguments(" \n") == {}


def test_arguments_are_one_object() -> None:
    assert parse_arguments('{"path": "a"}') == {"path": "a"}
    assert parse_arguments('{"a":' * 100 + "1" + "}" * 100) is not None


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "a',
        '{"path": "a"}}',
        '{"path": "a"}{"path": "b"}',
        "null",
        "[]",
        '"{}"',
        "{'path': 'a'}",
        '{"n": NaN}',
        "[" * 100_000,
        '{"a":' * 101 + "1" + "}" * 101,
    ],
)
def test_anything_else_is_none_and_not_repaired(text: str) -> None:
    assert parse_arguments(text) is None


def test_a_character_in_two_pieces_is_shown_whole() -> None:
    pieces = Pieces()
    assert pieces.add("a\ud83d") == "a"
    assert pieces.add("\ude00b") == "😀b"
    assert pieces.text() == "a😀b"


def test_half_a_character_at_the_end_is_replaced() -> None:
    pieces = Pieces()
    assert pieces.add("\ud83d") == ""
    assert pieces
    assert pieces.text() == "\ufffd"
    assert pieces.text() == "\ufffd"


@given(st.lists(st.text(st.characters(categories=["Cs", "Ll", "So"])), max_size=8))
def test_pieces_are_always_valid_and_lose_nothing_that_is(texts: list[str]) -> None:
    pieces = Pieces()
    shown = "".join(pieces.add(text) for text in texts)
    whole = pieces.text()
    assert whole.startswith(shown)
    whole.encode()
    assert whole == "".join(texts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
