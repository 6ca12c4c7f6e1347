"""Functions of templates: useful within bounds, errors beyond."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.template_functions import MAX_CHARS, MAX_INDENT, MAX_ROUNDS, OWN_FILTERS, as_text


def call(name: str, *arguments: Any, **named: Any) -> Any:
    return OWN_FILTERS[name](*arguments, **named)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        ("", ""),
        (None, ""),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (1.5, "1.5"),
        (-0.0, "-0.0"),
    ],
)
def test_a_value_is_printed_as_a_spec_spells_it(value: Any, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize("value", [[1], (1,), {"a": 1}, len, "".strip, range(3), object()])
def test_what_has_no_one_spelling_is_not_printed(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be printed"):
        as_text(value)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("join", ([1, "a", True, None],), "1atrue"),
        ("join", (["a", "b"], ", "), "a, b"),
        ("replace", ("aXbX", "X", "--"), "a--b--"),
        ("replace", ("abc", "b", ""), "ac"),
        ("indent", ("a\n\nb",), "a\n\n    b"),
        ("indent", ("a\nb", 2, True), "  a\n  b"),
        ("tojson", ({"a": [1, None, "é"]},), '{"a": [1, null, "é"]}'),
        ("_plus", (1, 2), 3),
        ("_plus", ("a", "b"), "ab"),
        ("_plus", ([1], [2]), [1, 2]),
        ("_times", (2, 3), 6),
        ("_times", ("ab", 2), "abab"),
        ("_times", (0.5, 4), 2.0),
        ("_modulo", (7, 3), 1),
    ],
)
def test_each_function_does_what_its_name_says(name: str, arguments: tuple[Any, ...], result: Any) -> None:
    assert call(name, *arguments) == result


BIG = "x" * MAX_CHARS


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("join", ([BIG, "x"],)),
        ("join", (["a"] * 1000, BIG)),
        ("replace", (BIG, "x", "xx")),
        ("indent", ("a", MAX_INDENT + 1)),
        ("indent", ("a", -1)),
        ("indent", ("x\n" * (MAX_CHARS // 4), 50)),
        ("tojson", (BIG,)),
        ("_plus", (BIG, "x")),
        ("_plus", ([1] * MAX_ROUNDS, [1])),
        ("_times", ("ab", MAX_ROUNDS)),
        ("_times", (MAX_ROUNDS + 1, [1])),
    ],
)
def test_each_function_ends_at_its_bound(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(OverflowError):
        call(name, *arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("replace", ("a", "", "b")), ("replace", (3, "a", "b")), ("_modulo", ("%d", 3)), ("_plus", ("a", 1))],
)
def test_each_function_refuses_what_it_is_not_for(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        call(name, *arguments)
