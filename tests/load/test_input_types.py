"""Texts as values of a declared type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.load.input_types import INPUT_NAME, BadInput, file_content, from_text, is_unicode
from pi_batch.spec import InputSpec


def declared(kind: Any, *values: str) -> InputSpec:
    return InputSpec(type=kind, values=values)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "007", "007"),
        ("string", "", ""),
        ("command", "a && b", "a && b"),
        ("file", "a b.txt", "a b.txt"),
        ("integer", "007", 7),
        ("integer", "-0", 0),
        ("number", "7", 7),
        ("number", "7.50", 7.5),
        ("boolean", "true", True),
        ("boolean", "false", False),
    ],
)
def test_a_text_as_a_value(kind: str, text: str, value: Any) -> None:
    found = from_text(text, declared(kind))
    assert found == value
    assert type(found) is type(value)


def test_an_enum_takes_its_values_only() -> None:
    assert from_text("no", declared("enum", "no", "yes")) == "no"
    with pytest.raises(BadInput, match=r"^got 'ye', need one of no, yes, did you mean 'yes'\?$"):
        from_text("ye", declared("enum", "no", "yes"))


@pytest.mark.parametrize(
    ("kind", "text", "need"),
    [
        ("integer", "", "a whole number"),
        ("integer", "7.0", "a whole number"),
        ("number", "seven", "a finite number"),
        ("number", "inf", "a finite number"),
        ("boolean", "1", "true or false"),
        ("boolean", "TRUE", "true or false"),
        ("string", "a\0b", "UTF-8 text without NUL"),
        ("string", "\udcff", "UTF-8 text without NUL"),
        ("command", "a\0b", "UTF-8 text without NUL"),
    ],
)
def test_what_is_no_value(kind: str, text: str, need: str) -> None:
    with pytest.raises(BadInput, match=f"need {need}$"):
        from_text(text, declared(kind))


@given(
    st.sampled_from(["string", "integer", "number", "boolean", "file", "command"]), st.text(st.characters())
)
def test_any_text_is_a_value_or_a_line(kind: str, text: str) -> None:
    try:
        from_text(text, declared(kind))
    except BadInput as error:
        message = str(error)
        assert message.isprintable()


@pytest.mark.parametrize(
    ("text", "is_fine"), [("a", True), ("\u00e9\U0001f600", True), ("\ud800", False), ("", True)]
)
def test_lone_surrogates_are_no_text(text: str, is_fine: bool) -> None:
    assert is_unicode(text) is is_fine


@pytest.mark.parametrize(
    ("name", "is_name"), [("a", True), ("a_1", True), ("_a", False), ("1a", False), ("x" * 65, False)]
)
def test_names(name: str, is_name: bool) -> None:
    assert bool(INPUT_NAME.fullmatch(name)) is is_name


def test_a_file_gives_its_text_without_a_mark(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9\r\n")
    assert file_content("a.txt", tmp_path) == "caf\u00e9\r\n"
    assert file_content(str(tmp_path / "a.txt"), Path("/nowhere")) == "caf\u00e9\r\n"


@pytest.mark.parametrize("name", ["gone", "", ".", "a\0b", "x" * 5000])
def test_what_is_no_file_is_a_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput) as caught:
        file_content(name, tmp_path)
    assert "need a file" in str(caught.value)
