"""Specs of imported tasks: valid, and their texts what they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.load.options import PlanOptions
from pi_batch.load.plan import load_plan
from pi_batch.peers.task_files import Imported, TaskFile, escaped, suite_yaml, task_id, task_yaml, write_task
from pi_batch.spec import PlannedTask
from pi_batch.template_grammar import Names
from pi_batch.templates import Values, render_prompt

PROMPTS = (
    "Plain.",
    "Two\nlines\n\n  indented\n",
    "  begins with blanks\n",
    "\n\nbegins with lines",
    "{{ 7 * 7 }} {% raw %} {# c #} {{{{ }}",
    "tab\tand \x07 bell",
    "# no comment: 'x' \"y\" \\ &a *b !c %d @e `f` | > - ? : , [ ] { }",
    "ends in blanks   \n   \nmore",
    "Ünïcode 🎉 \u2028 \u0085 x",
    "--- \n...\n%YAML 1.1",
)


def task(prompt: str, **fields: object) -> Imported:
    values: dict[str, object] = {
        "judge": "sh j/judge.sh",
        "judge_dir": "j",
        "hidden": {"judge.sh": TaskFile(b"true\n")},
    }
    return Imported(id="t", prompt=prompt, **(values | fields))  # type: ignore[arg-type]


def loaded(one: Imported, top: Path) -> PlannedTask:
    """What our own loader makes of it."""
    write_task(one, top / "t")
    options = PlanOptions(cwd=top, models=("oracle",))
    return load_plan([str(top / "t/task.yaml")], options).tasks[0]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_comes_out_as_it_went_in(tmp_path: Path, prompt: str) -> None:
    found = loaded(task(prompt, solution={"a": TaskFile(b"")}), tmp_path).spec.prompt
    assert found.rstrip() == prompt.rstrip()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_a_template_gives_any_text_back_as_it_is(text: str) -> None:
    assert render_prompt(escaped(text), Names(), Values()) == text


def test_everything_that_a_task_may_have_is_in_its_spec(tmp_path: Path) -> None:
    one = task(
        "Go.",
        title='A "title": #1',
        tags=("a", "b c"),
        wall_s=45.0,
        judge_timeout_s=90,
        network=True,
        setup=("pip install -e '.[x]'",),
        protect=("**/conftest.py",),
        workspace={"bin/run": TaskFile(b"#!/bin/sh\n", is_executable=True), "ü.txt": TaskFile(b"\xff\x00")},
        solution={"out": TaskFile(b"x")},
    )
    spec = loaded(one, tmp_path).spec
    assert (spec.title, spec.tags, spec.budget.wall_s) == ('A "title": #1', ("a", "b c"), 45.0)
    assert (spec.verify[0].run, spec.verify[0].timeout_s) == ("sh j/judge.sh", 90)
    assert spec.permissions.network is True
    assert spec.workspace.setup == ("pip install -e '.[x]'",)
    assert (spec.hidden, spec.solution, spec.protect) == (("j",), "solution", ("**/conftest.py",))
    assert (tmp_path / "t/workspace/bin/run").stat().st_mode & 0o111
    assert (tmp_path / "t/workspace/ü.txt").read_bytes() == b"\xff\x00"


def test_a_suite_names_all_tasks_beside_it() -> None:
    assert suite_yaml('x "y"').split("\n")[1:3] == ['title: "x \\"y\\""', "tasks: ['*/task.yaml']"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("django__django-11099", "django__django-11099"),
        ("a--b", "a-b"),
        ("../../etc", "etc"),
        ("Ü x/y", "x-y"),
        ("---", "task"),
        ("x" * 300, "x" * 100),
    ],
)
def test_any_name_becomes_an_id(name: str, found: str) -> None:
    assert task_id(name) == found


def test_what_no_spec_holds_is_replaced(tmp_path: Path) -> None:
    assert "\ud800" not in task_yaml(task("a\ud800b\x7f"))
    found = loaded(task("a\0b", title="\0", tags=("c\0",), solution={"x": TaskFile(b"")}), tmp_path).spec
    assert (found.prompt.rstrip(), found.title, found.tags) == ("a\ufffdb", "\ufffd", ("c\ufffd",))
