"""Where values stand in commands, as far as it shows without values."""

from __future__ import annotations

import pytest

from pi_batch.template_functions import environment
from pi_batch.template_grammar import Names
from pi_batch.template_places import expression_text, hide_lengths, misplaced_value, refusal, show_lengths

KNOWN = Names(frozenset({"a", "c"}), commands=frozenset({"c"}))


def place(text: str) -> tuple[int, str] | None:
    found = misplaced_value(environment().parse(hide_lengths(text)), KNOWN)
    return (found.line, found.message.split(",")[0]) if found else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo '{{ inputs.a }}'", (1, "{{ inputs.a }} stands inside single quotes")),
        ('x\necho "{{ inputs.a }}"', (2, "{{ inputs.a }} stands inside double quotes")),
        ('echo "{{ inputs.a | upper }}"', (1, "a value stands inside double quotes")),
        ("echo {{ inputs.a }} '{{ task.id }}'", (1, "{{ task.id }} stands inside single quotes")),
        ("${{ inputs.a }}", (1, "{{ inputs.a }} stands behind a $")),
        ("cat <<E\n{{ inputs.a }}\nE", (2, "{{ inputs.a }} stands inside a here-document")),
        ("echo {{ inputs.a }}", None),
        ("echo ${#x} {{ inputs.a }}", None),
        ("sh -c '{{ inputs.c }}'", None),
        ("sh -c '{{ inputs.c if inputs.a else inputs.a }}'", None),
        ("no value 'at all", None),
    ],
)
def test_a_misplaced_value_is_found(text: str, expected: tuple[int, str] | None) -> None:
    assert place(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{% if inputs.a %}'{% endif %}{{ inputs.a }}",
        "{% for x in [1] %}'{{ x }}'{% endfor %}",
        "{% set x = inputs.c %}'{{ x }}'",
    ],
)
def test_what_hangs_on_values_is_left_for_rendering(text: str) -> None:
    assert place(text) is None


@pytest.mark.parametrize("text", ["", "${#x}", "a ${#x[@]} {# b #} ${#y}", "$ {#", "{#"])
def test_lengths_are_hidden_and_shown(text: str) -> None:
    assert show_lengths(hide_lengths(text)) == text
    assert "${#" not in hide_lengths(text)


def test_expressions_are_named_where_they_are_plain() -> None:
    (output,) = environment().parse("{{ inputs.a }}{{ inputs['a'] }}{{ 1 }}{{ a.b }}{{ matrix.py }}").body
    assert [expression_text(node) for node in getattr(output, "nodes", ())] == [
        "{{ inputs.a }}",
        "a value",
        "a value",
        "a value",
        "{{ matrix.py }}",
    ]


def test_a_refusal_says_the_way_out() -> None:
    assert refusal("a value", "inside x").endswith('assign it first (x={{ ... }}) and write "$x"')
