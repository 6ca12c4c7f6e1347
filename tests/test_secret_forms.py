"""The forms of a value are what encoders really make of it."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.secret_forms import Form, forms_of

VALUES = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=24)


def covers(form: Form, text: str) -> bool:
    """True when a form stands for exactly this text."""
    return len(form.cells) == len(text) and all(
        char in cell for char, cell in zip(text, form.cells, strict=True)
    )


def is_a_form(value: str, text: str) -> bool:
    return any(covers(form, text) for form in forms_of(value))


@given(VALUES)
def test_the_usual_encoders_make_one_of_the_forms(value: str) -> None:
    data = value.encode()
    for text in (
        value,
        data.hex(),
        data.hex().upper(),
        base64.b64encode(data).decode(),
        base64.urlsafe_b64encode(data).decode().rstrip("="),
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
    ):
        assert is_a_form(value, text), text


@given(VALUES, st.binary(max_size=5), st.binary(max_size=5))
def test_base64_of_any_surroundings_holds_one_of_the_forms(value: str, before: bytes, after: bytes) -> None:
    encoded = base64.b64encode(before + value.encode() + after).decode()
    spaced = [form for form in forms_of(value) if form.is_spaced]
    assert any(
        covers(form, encoded[start : start + len(form.cells)])
        for form in spaced
        for start in range(len(encoded) - len(form.cells) + 1)
    )


@given(VALUES)
def test_a_form_for_bytes_matches_the_bytes_of_the_form(value: str) -> None:
    for form in forms_of(value):
        if all(len(cell) == 1 for cell in form.cells):
            text = "".join(form.cells)
            assert "".join(form.as_utf8().cells) == text.encode().decode("latin-1")


@given(VALUES)
def test_no_form_is_short_enough_to_hide_ordinary_text(value: str) -> None:
    assert all(len(form.cells) >= 8 for form in forms_of(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("aa?bb>cc", "YWE_YmI-Y2M="),
        ("aa?bb>cc", "YWE/YmI+Y2M="),
        ("aa bb/cc", "aa+bb%2Fcc"),
        ("aa bb/cc", "aa%20bb%2fcc"),
        ("aa bb/cc", "aa%2520bb%252Fcc"),
        ("été-été-", "\\u00e9t\\u00e9-\\u00e9t\\u00e9-"),
        ("été-été-", "\\u00E9t\\u00E9-\\u00E9t\\u00E9-"),
        ("aa/bb/cc", "aa\\/bb\\/cc"),
        ('aa"bb"cc', 'aa\\\\\\"bb\\\\\\"cc'),
        ('aa"<b>&cc', "aa&quot;&lt;b&gt;&amp;cc"),
        ("it's-it's", "it&#x27;s-it&#x27;s"),
        ("it's-it's", "it&#39;s-it&#39;s"),
        ("a+b=c&d~", "a%2Bb%3Dc%26d~"),
        ("a+b=c&d~", "a+b=c&d~"),
    ],
)
def test_spellings_that_differ_between_encoders_are_all_there(value: str, text: str) -> None:
    assert is_a_form(value, text)
