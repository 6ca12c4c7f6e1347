"""Every line is one that any JSON reader takes."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.jsonl import TOO_DEEP, decode_line, encode_line, is_too_deep
from tests.strategies import JSON_OBJECTS


@given(JSON_OBJECTS)
def test_a_clean_object_comes_back(value: dict[str, Any]) -> None:
    line = encode_line(value)
    assert "\n" not in line
    assert decode_line(line.encode()) == value


@given(st.dictionaries(st.text(), st.text(st.characters(), max_size=20)))
def test_any_text_becomes_valid_utf8_without_nul(value: dict[str, str]) -> None:
    line = encode_line(value)
    line.encode("utf-8")
    decoded = json.loads(line)
    assert not any("\0" in text for pair in decoded.items() for text in pair)


def test_a_lone_surrogate_is_replaced_and_a_pair_is_joined() -> None:
    assert encode_line({"a": "x\ud800y", "b": "\ud83d\ude00"}) == '{"a":"x\ufffdy","b":"\U0001f600"}'


def test_a_nul_is_replaced_and_its_spelling_is_kept() -> None:
    line = encode_line({"nul": "a\0b", "spelled": "\\u0000", "both": "\\\0"})
    assert json.loads(line) == {"nul": "a\ufffdb", "spelled": "\\u0000", "both": "\\\ufffd"}


def test_numbers_that_json_lacks_become_null() -> None:
    value = {"a": [float("nan"), {"b": float("inf")}], "c": 1.5}
    assert encode_line(value) == '{"a":[null,{"b":null}],"c":1.5}'


def test_foreign_mappings_and_objects_are_written_as_what_they_are() -> None:
    value = {"m": MappingProxyType({"a": (1, 2)}), "o": {1}}
    assert json.loads(encode_line(value)) == {"m": {"a": [1, 2]}, "o": "{1}"}


def test_a_value_nested_without_end_is_cut() -> None:
    value: Any = "bottom"
    for _ in range(100_000):
        value = [value]
    line = encode_line({"deep": value})
    assert TOO_DEEP in line
    assert decode_line(line.encode()) is not None


@pytest.mark.parametrize(
    "line", [b"", b"[1]", b"1", b'{"a":', b"\0\0\0", b"[" * 200_000, b'{"a":' + b"1" * 9_999 + b"}"]
)
def test_what_is_no_whole_object_is_none(line: bytes) -> None:
    assert decode_line(line) is None


def test_lists_and_objects_count_as_levels() -> None:
    assert not is_too_deep(7, 0)
    assert not is_too_deep([{"a": [1]}, 2], 3)
    assert is_too_deep([{"a": [1]}, 2], 2)
    assert is_too_deep({"a": {"b": ()}, "c": [[[]]]}, 3)
    assert not is_too_deep({"a": {"b": ()}, "c": [[[]]]}, 4)


def test_surrogates_and_nul_in_a_foreign_file_do_not_come_in() -> None:
    line = rb'{"a\u0000":["x\ud800y","\ud83d\ude00","\\u0000"],"n":1}'
    assert decode_line(line) == {"a\ufffd": ["x\ufffdy", "\U0001f600", "\\u0000"], "n": 1}


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert decode_line(b'{"a":"caf\xe9"}') == {"a": "caf\ufffd"}
