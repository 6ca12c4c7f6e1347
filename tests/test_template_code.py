"""Compiled templates: every print, loop and growing operation passes a function of ours."""

from __future__ import annotations

import pytest

from pi_batch.errors import TemplateError
from pi_batch.template_code import MAX_DEPTH, MAX_PARTS, MAX_TAGS, check_template, compile_template
from pi_batch.template_grammar import Names

KNOWN = Names(frozenset({"a", "items"}), frozenset({"a"}))


def filters_of(text: str) -> set[str]:
    """Names of the filters that the compiled code looks up."""
    found: set[str] = set()
    waiting = [compile_template(text, KNOWN)]
    while waiting:
        code = waiting.pop()
        found |= {constant for constant in code.co_consts if isinstance(constant, str)}
        waiting += [constant for constant in code.co_consts if hasattr(constant, "co_consts")]
    return found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{{ 'x' }}", "_print"),
        ("{% if true %}{{ inputs.a }}{% endif %}", "_print"),
        ("{% for x in [1] %}{% endfor %}", "_counted"),
        ("{% for x in [1] %}{% for y in [1] %}{{ y }}{% endfor %}{% endfor %}", "_counted"),
        ("{{ 1 + 2 }}", "_plus"),
        ("{% if 1 * 2 %}{% endif %}", "_times"),
        ("{{ 'a' if 3 % 2 else 'b' }}", "_modulo"),
        ("{{ 'a' ~ 'b' }}", "join"),
        ("{% set x = 'a' ~ 'b' %}", "join"),
        ("{{ [1 + 1, {'a': 2 * 2}] | first }}", "_times"),
        ("{{ 'a' | replace('a', 'b' + 'c') }}", "_plus"),
    ],
)
def test_everything_that_can_grow_is_rewritten(text: str, name: str) -> None:
    assert name in filters_of(text)


def test_labels_of_untrusted_values_are_compiled_in() -> None:
    assert "a" in filters_of("{{ inputs.a ~ 1 }}")


def test_plain_text_stays_out_of_it() -> None:
    assert "_print" not in filters_of("only text {% if true %}more{% endif %}")


def test_a_tree_may_be_as_deep_as_people_write() -> None:
    nested = "{% if true %}" * 10 + "x" + "{% endif %}" * 10
    assert check_template(nested, KNOWN, is_command=False) == ()
    too_deep = "{{ " + "-" * (MAX_DEPTH + 1) + "1 }}"
    (problem,) = check_template(too_deep, KNOWN, is_command=False)
    assert problem.message == f"nested more than {MAX_DEPTH} deep"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ 1 }}" * (MAX_TAGS + 1), f"more than {MAX_TAGS} tags in one template"),
        ("{% if 1 %}{% endif %}" * MAX_TAGS, f"more than {MAX_TAGS} tags in one template"),
        ("{{ [" + "1," * MAX_PARTS + "] }}", f"more than {MAX_PARTS} parts in one template"),
    ],
)
def test_a_tree_may_be_as_large_as_people_write(text: str, message: str) -> None:
    (problem,) = check_template(text, KNOWN, is_command=False)
    assert problem.message == message
    assert check_template("{{ inputs.a }} " * 500, KNOWN, is_command=False) == ()


def test_what_python_cannot_compile_is_an_error_of_ours() -> None:
    with pytest.raises(TemplateError, match="too deeply nested"):
        compile_template("{% for x in [1] %}" * 25 + "{% endfor %}" * 25, KNOWN)
