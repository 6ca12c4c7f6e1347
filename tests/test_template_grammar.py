"""What templates may say, found out without values."""

from __future__ import annotations

import pytest

from pi_batch.template_code import check_template, compile_template
from pi_batch.template_functions import FILTERS, METHODS, TESTS, environment
from pi_batch.template_grammar import Names

KNOWN = Names(frozenset({"issue", "count", "items"}), frozenset({"issue"}), matrix=frozenset({"python"}))


def found(text: str, *, is_command: bool = False) -> list[tuple[int, str]]:
    return [(problem.line, problem.message) for problem in check_template(text, KNOWN, is_command=is_command)]


@pytest.mark.parametrize(
    "text",
    [
        "{{ inputs.issue }}",
        "{{ inputs['count'] + 1 }}",
        "{{ inputs.items }}",
        "{{ task.id }} {{ task.title }} {{ matrix.python }}",
        "{% for x in inputs.items.split() %}{{ loop.index }} {{ x }} {{ x[0] }}{% endfor %}",
        "{% for a, b in [(1, 2)] %}{{ a }}{{ b }}{% endfor %}",
        "{% set x, y = 1, 2 %}{{ x }}{{ y }}",
        "{% for x in range(3) if x is odd %}{{ x }}{% else %}none{% endfor %}",
        "{{ 'a' if inputs.count else none }}",
        "{{ {'a': 1}['a'] }}",
        "{{ inputs.items[1:3] }}",
        "{{ not inputs.count or inputs.count == 3 and inputs.count != 4 }}",
    ],
)
def test_what_specs_need_is_allowed(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% include 'x' %}", "include is not available in templates"),
        ("{% import 'x' as y %}", "import is not available in templates"),
        ("{% from 'x' import y %}", "import is not available in templates"),
        ("{% extends 'x' %}", "extends is not available in templates"),
        ("{% block x %}{% endblock %}", "block is not available in templates"),
        ("{% macro m() %}{% endmacro %}", "macro is not available in templates"),
        ("{% call range(1) %}{% endcall %}", "call is not available in templates"),
        ("{% filter upper %}x{% endfilter %}", "filter is not available in templates"),
        ("{% set x %}y{% endset %}", "a block set is not available in templates"),
        ("{% with %}{% endwith %}", "with is not available in templates"),
        ("{% autoescape true %}{% endautoescape %}", "autoescape is not available in templates"),
        ("{{ 2 ** 3 }}", "the operator ** is not available in templates"),
        ("{% for x in [1] recursive %}{% endfor %}", "a recursive loop is not available in templates"),
        ("{{ range(*[1]) }}", "* and ** are not available in templates"),
        ("{% set inputs = 1 %}", "'inputs' cannot be set"),
        ("{% set loop = 1 %}", "'loop' cannot be set"),
        ("{% for task in [1] %}{% endfor %}", "'task' cannot be set"),
        ("{{ inputs }}", "'inputs' by itself is no value, write inputs.NAME"),
        ("{{ inputs[task.id] }}", "inputs[...] needs a name in quotes"),
        ("{{ inputs[1] }}", "inputs[...] needs a name in quotes"),
        (
            "{{ loop.cycle }}",
            "'loop.cycle' is not defined (there are: first, index, index0, last, length, "
            "revindex, revindex0)",
        ),
        ("{{ inputs.count.real }}", "a value has no '.real' (inputs hold texts and numbers)"),
        ("{{ ''.__class__ }}", "a value has no '.__class__' (inputs hold texts and numbers)"),
        ("{{ inputs.__class__ }}", "'inputs.__class__' is not defined (there are: count, issue, items)"),
        ("{{ inputs.items.join(',') }}", "join() cannot be called (use the filter: | join)"),
        (
            "{{ inputs.items() }}",
            "items() cannot be called (there are: range, capitalize, count, endswith, find, ",
        ),
        ("{{ dict(a=1) }}", "dict() cannot be called ("),
        ("{{ counts }}", "'counts' is not defined, did you mean 'inputs.count'?"),
        ("{{ count }}", "'count' is not defined, did you mean 'inputs.count'?"),
        ("{{ COUNT }}", "'COUNT' is not defined, did you mean 'inputs.count'?"),
        ("{{ inputs.cuont }}", "'inputs.cuont' is not defined, did you mean 'count'?"),
        ("{{ matrix.pythn }}", "'matrix.pythn' is not defined, did you mean 'python'?"),
        ("{{ 1 is od }}", "no test 'od', did you mean 'odd'?"),
        ("{{ 1 | flaot }}", "no filter 'flaot', did you mean 'float'?"),
        (
            "{% set x = inputs.issue %}",
            "'inputs.issue' is untrusted: print it or test it, it cannot be set or looped over",
        ),
    ],
)
def test_each_thing_that_is_not_allowed_is_named(text: str, message: str) -> None:
    (only,) = found(f"one\n{text}")
    assert only[0] == 2
    assert only[1].startswith(message)


def test_all_mistakes_are_found_with_their_lines() -> None:
    assert found("{{ a }}\n{% if b %}\n{{ c | zzzzzz }}\n{% endif %}")[:2] == [
        (1, "'a' is not defined"),
        (2, "'b' is not defined"),
    ]
    assert len(found("{{ a }}\n{% if b %}\n{{ c | zzzzzz }}\n{% endif %}")) == 4


def test_the_same_mistake_on_one_line_is_told_once() -> None:
    assert found("{{ a }}{{ a }}") == [(1, "'a' is not defined")]


def test_taint_is_no_matter_in_commands() -> None:
    assert found("{% set x = inputs.issue %}{{ x }}", is_command=True) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{{", 1),
        ("a\n{{ x", 2),
        ("{% if %}", 1),
        ("\n\n{% nope %}", 3),
        ("{{ 'a }}", 1),
        ("{% endif %}", 1),
        ("{# x", 1),
    ],
)
def test_broken_syntax_is_one_problem_with_its_line(text: str, line: int) -> None:
    ((at, message),) = found(text)
    assert at == line
    assert message.startswith("not a template: ")


def test_every_listed_filter_method_and_test_is_there() -> None:
    assert set(environment().filters) == FILTERS
    assert set(environment().tests) == TESTS
    assert all(hasattr("", name) for name in METHODS)
    assert set(environment().globals) == {"range"}


def test_compiled_templates_are_kept() -> None:
    text = "{{ inputs.count }}"
    assert compile_template(text, KNOWN) is compile_template(text, KNOWN)


def test_nothing_is_folded_while_compiling() -> None:
    """A constant expression costs nothing before it is rendered within its bounds."""
    assert "x" * 1000 not in str(compile_template("{{ 'x' * 1000 }}", KNOWN).co_consts)
