"""Hostile templates: code of theirs is refused, text that looks like code is text; proven by what is run.

Each payload is first shown to work where jinja2 is used without walls, so that none is an empty threat.
"""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import jinja2
import pytest

from pi_batch.errors import TemplateError
from pi_batch.template_grammar import Names
from pi_batch.templates import Values, render_command, render_prompt

PAYLOADS = [
    payload.replace("RUN", "os.mkdir('pwned')")
    for payload in (
        "{{ self.__init__.__globals__.__builtins__.__import__('os').mkdir('pwned') }}",
        "{{ cycler.__init__.__globals__.RUN }}",
        "{{ joiner.__init__.__globals__.RUN }}",
        "{{ namespace.__init__.__globals__.RUN }}",
        "{{ lipsum.__globals__.RUN }}",
        "{{ lipsum.__globals__['os'].mkdir('pwned') }}",
        "{{ lipsum['__globals__']['os'].mkdir('pwned') }}",
        "{{ (lipsum|attr('__globals__'))['os'].mkdir('pwned') }}",
        "{{ lipsum|attr('__glo' ~ 'bals__')|attr('get')('os')|attr('mkdir')('pwned') }}",
        "{{ lipsum|attr('\\x5f\\x5fglobals\\x5f\\x5f')|attr('get')('os')|attr('mkdir')('pwned') }}",
        "{{ url_for.x if url_for is defined else cycler.__init__.__globals__.RUN }}",
        "{{ dict.__base__.__subclasses__() | list and lipsum.__globals__.RUN }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() and lipsum.__globals__.RUN }}",
        "{{ ().__class__.__base__.__subclasses__() and cycler.__init__.__globals__.RUN }}",
        "{{ [].__class__.__base__ and joiner.__init__.__globals__.RUN }}",
        "{{ inputs.x.__class__ and lipsum.__globals__.RUN }}",
        "{% set g = lipsum.__globals__ %}{{ g.os.mkdir('pwned') }}",
        "{% for k in [lipsum.__globals__.os] %}{{ k.mkdir('pwned') }}{% endfor %}",
        "{% if lipsum.__globals__.os.mkdir('pwned') %}x{% endif %}",
        "{% with o = lipsum.__globals__.os %}{{ o.mkdir('pwned') }}{% endwith %}",
        "{% macro m() %}{{ lipsum.__globals__.os.mkdir('pwned') }}{% endmacro %}{{ m() }}",
        "{% call(x) namespace() %}{% endcall %}{{ lipsum.__globals__.os.mkdir('pwned') }}",
        "{% filter upper %}{{ lipsum.__globals__.os.mkdir('pwned') }}{% endfilter %}",
        "{{ [lipsum] | map(attribute='__globals__') | map(attribute='os') | first | string"
        " and lipsum.__globals__.os.mkdir('pwned') }}",
        "{{ '%s'|format(lipsum.__globals__.os.mkdir('pwned')) }}",
        "{{ 'x'.format(lipsum.__globals__.os.mkdir('pwned')) }}",
        "{% block a %}{{ self.__init__.__globals__.sys.modules.os.mkdir('pwned') }}{% endblock %}",
        "{{ lipsum.__globals__\n  .os\n  .mkdir('pwned') }}",
    )
]
"""Each makes a directory."""
NAMES = Names(inputs=frozenset({"x", "u"}), untrusted=frozenset({"u"}))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def has_run() -> bool:
    """Whether a payload made its directory, which is then removed."""
    made = Path("pwned").exists()
    if made:
        Path("pwned").rmdir()
    return made


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_runs_where_there_are_no_walls(payload: str) -> None:
    with contextlib.suppress(jinja2.TemplateError, TypeError, ValueError):  # some fail behind their effect
        jinja2.Environment().from_string(payload).render(inputs={"x": "a"})
    assert has_run()


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_in_a_spec_is_refused_and_nothing_runs(payload: str) -> None:
    for render in (render_prompt, render_command):
        with pytest.raises((TemplateError, jinja2.TemplateError)):
            render(payload, NAMES, Values(inputs={"x": "a"}))
    assert not has_run()


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_in_a_value_is_text_letter_for_letter(payload: str) -> None:
    values = Values(inputs={"x": payload, "u": payload})
    assert render_prompt("a {{ inputs.x }} b", NAMES, values) == f"a {payload} b"
    fenced = render_prompt("a {{ inputs.u }} b", NAMES, values)
    assert payload in fenced
    assert "data from outside" in fenced
    command = render_command("printf %s {{ inputs.x }}", NAMES, values)
    assert subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout.decode() == payload
    assert not has_run()


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ inputs.x | upper }}", "A"),
        ("{% for n in range(3) %}{{ n }}{% endfor %}", "012"),
        ("{% if inputs.x == 'a' %}yes{% endif %}", "yes"),
        ("{{ inputs.x.split(',') | join(';') }}", "a"),
    ],
)
def test_templates_as_they_are_meant_work(template: str, text: str) -> None:
    assert render_prompt(template, NAMES, Values(inputs={"x": "a"})) == text


def test_there_are_more_than_twenty_payloads() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) > 20
