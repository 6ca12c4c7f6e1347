"""Whatever a file says, loading it ends in a plan or in lines that name what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_batch.errors import EmptySelection, SpecError
from pi_batch.load.plan import load_plan
from pi_batch.spec import Plan, SuiteSpec, TaskSpec
from tests.load.loading import options

WORDS = [
    *TaskSpec.__struct_fields__,
    *SuiteSpec.__struct_fields__,
    *("run", "name", "type", "default", "values", "turns", "tokens", "path", "isolation", "schema", "files"),
    *("allow", "deny", "env", "network", "read", "write", "bash", "append", "replace", "setup", "skip_if"),
]
SCALARS = [
    *(
        "no",
        "012",
        "1.10",
        "~",
        "null",
        "true",
        "1",
        "-1",
        "0",
        ".inf",
        "clone",
        "none",
        "clean",
        "on",
        "ask",
    ),
    *("a.yaml", "*.yaml", "fake/x", "pytest -q", "string", "enum", "command", "file", "passes", "object", ""),
    *(
        "{{ inputs.x }}",
        "{{ x",
        "{% if x %}",
        "{{ task.id }}",
        "'",
        '"',
        "x: y",
        "- z",
        "#",
        "&a",
        "*a",
        "!t",
    ),
    *("\t", "\0", "\x85", "\u2028", "caf\u00e9", "\U0001f600", "[", "{", "|", ">", "%", "@", "`", "<<"),
]


@contextmanager
def loaded(content: bytes) -> Iterator[Plan | SpecError | None]:
    """The outcome of a spec file; anything else that is raised is a failure."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "a.yaml").write_bytes(content)
        try:
            yield load_plan(["a.yaml"], options(directory))
        except SpecError as error:
            yield error
        except EmptySelection:
            yield None


def check(content: bytes) -> None:
    with loaded(content) as outcome:
        if isinstance(outcome, SpecError):
            assert outcome.problems
            for problem in outcome.problems:
                line = str(problem)
                line.encode()
                assert line.isprintable(), line
                assert problem.line <= content.count(b"\n") + 1


scalars = st.sampled_from(SCALARS) | st.text(max_size=20)
trees: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | scalars, inner, max_size=5)
    ),
    max_leaves=25,
)
specs = st.dictionaries(st.sampled_from(WORDS), trees, max_size=8)


def flow(tree: Any) -> str:
    """A tree as YAML in flow style, scalars as they are: often no YAML at all."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key}: {flow(value)}" for key, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(flow, tree)) + "]"
    return str(tree)


def block(tree: dict[str, Any]) -> str:
    """A mapping as YAML in block style."""
    return "".join(f"{key}: {flow(value)}\n" for key, value in tree.items())


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@given(st.binary(max_size=200))
@example(b"\xff\xfe\x00")
@example(b"prompt: \xed\xa0\x80\n")
def test_any_bytes_are_a_plan_or_problems(content: bytes) -> None:
    check(content)


@given(st.text(max_size=200))
@example("? ")
@example("%")
@example("prompt: |9\n x")
@example("\ufeff\ufeffprompt: x")
@example("prompt: &a *a")
@example("!")
def test_any_text_is_a_plan_or_problems(text: str) -> None:
    check(encoded(text))


@given(specs)
def test_any_tree_is_a_plan_or_problems(tree: dict[str, Any]) -> None:
    check(encoded(block(tree)))


@given(specs)
def test_any_json_is_a_plan_or_problems(tree: dict[str, Any]) -> None:
    check(json.dumps({"prompt": "x", **tree}).encode())


@pytest.mark.fuzz
@given(specs, st.data())
@settings(max_examples=2000, deadline=None)
def test_any_tree_with_a_piece_changed_is_a_plan_or_problems(
    tree: dict[str, Any], data: st.DataObject
) -> None:
    text = block({"prompt": "x", **tree})
    at = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from([*SCALARS, "\n", "  ", ": ", "- ", ",", "]", "}"]))
    check(encoded(text[:at] + piece + text[at:]))


plain_texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(
    lambda text: bool(text.strip()) and not set(text) & set("\u0085\u2028\u2029")
)


@given(plain_texts)
@example("no")
@example("null")
@example("{{ 7*7 }} {% raw %} ${{ x }} {#")
@example("'; rm -rf ~; '")
def test_a_quoted_text_is_read_back_as_it_was_written(text: str) -> None:
    content = json.dumps({"id": "t", "title": text, "prompt": "x", "tags": [text]}).encode()
    with loaded(content) as outcome:
        assert isinstance(outcome, Plan)
        assert outcome.tasks[0].spec.title == text
        assert outcome.tasks[0].spec.tags == (text,)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80))
@example("{{ 7*7 }}")
@example("{% for x in range(10) %}{{ x }}{% endfor %}")
@example("{{ inputs.title }}")
@example("\r\n")
def test_data_is_never_compiled(text: str) -> None:
    with TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "a.yaml").write_text("prompt: 'T: {{ inputs.title }}'\ninputs: {title: {}}\n")
        made = load_plan(["a.yaml"], options(directory, inputs={"title": text}))
        assert made.tasks[0].spec.prompt == f"T: {text}"
