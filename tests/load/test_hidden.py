"""hidden: and solution: in a spec: what they need, and the digest that comes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benches import FILES, SUITE, TASK, make_suite, make_task
from tests.load.loading import plan, problem, problems, task

SPEC = TASK.format(id="answer")


def files(spec: str = SPEC) -> dict[str, str | bytes]:
    return {"a.yaml": spec, **FILES}


def test_a_task_with_hidden_files_has_a_digest(tmp_path: Path) -> None:
    planned = task(tmp_path, files(), "a.yaml")
    assert len(planned.planned.digest) == 64
    assert planned.hidden_paths == (tmp_path / "checks",)
    assert planned.solution_path == tmp_path / "solution"


def test_other_tasks_have_none(tmp_path: Path) -> None:
    planned = task(tmp_path, "prompt: x\n")
    assert (planned.planned.digest, planned.planned.edition) == ("", "")
    assert (planned.hidden_paths, planned.solution_path) == ((), None)


def test_every_task_of_a_suite_has_its_edition(tmp_path: Path) -> None:
    make_suite(tmp_path, "one", "two")
    made = plan(tmp_path, {"suite.yaml": SUITE}, "suite.yaml")
    assert [one.planned.edition for one in made.tasks] == ["1", "1"]
    first, second = (one.planned.digest for one in made.tasks)
    assert first != second, "their specs differ by their ids"


def test_a_suite_file_of_the_usual_name_is_called_like_its_directory(tmp_path: Path) -> None:
    make_suite(tmp_path / "small")
    made = task(tmp_path, {"small/suite.yaml": SUITE}, "small/suite.yaml")
    assert made.planned.suite == "small"


def test_a_suite_in_a_directory_is_found_by_name(tmp_path: Path) -> None:
    make_suite(tmp_path / "builtins" / "small")
    made = task(tmp_path / "project", {"x": ""}, "small", builtin_dir=tmp_path / "builtins")
    assert made.planned.spec == "builtin:small/answer/task.yaml"
    assert made.spec_dir == str(tmp_path / "builtins/small/answer")
    assert made.hidden_paths == (tmp_path / "builtins/small/answer/checks",)


def test_names_of_suites_are_offered(tmp_path: Path) -> None:
    make_suite(tmp_path / "builtins" / "small")
    line = problem(tmp_path, {"x": ""}, "smal", builtin_dir=tmp_path / "builtins")
    assert "did you mean 'small'?" in line


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("isolation: copy", "isolation: clone", "hidden: needs workspace.isolation: copy"),
        ("isolation: copy", "isolation: none", "hidden: needs workspace.isolation: copy"),
        ("tags: [easy]", "verify_in: workspace", "hidden: needs verify: and a clean copy"),
        ("verify: [{name: hidden checks, run: sh checks/run.sh}]", "", "hidden: needs verify:"),
        ("tags: [easy]", "attempts: {verify: 2}", "hidden: needs attempts.verify: 1"),
        ("[checks]", "[gone]", "hidden: got 'gone', which does not exist"),
        ("[checks]", "[workspace/answer.txt]", "which the workspace would show"),
        ("[checks]", "[../]", "hidden[0]: got '../', need a file or directory with a name of its own"),
        ("[checks]", "['']", "hidden[0]: got '', need a file or directory"),
        ("solution: solution", "solution: gone", "solution: got 'gone', which does not exist"),
        ("solution: solution", "solution: workspace", "which the workspace would show"),
        ("solution: solution", "solution: ''", "solution: got '', need text that is not blank"),
    ],
)
def test_what_would_show_them_or_cannot_be_is_a_mistake(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in SPEC
    lines = problems(tmp_path, files(SPEC.replace(old, new)), "a.yaml")
    assert any(message in line for line in lines), lines


def test_the_directory_above_the_workspace_would_hold_it_as_well(tmp_path: Path) -> None:
    make_task(tmp_path / "answer")
    spec = SPEC.replace("[checks]", "[../answer]")
    assert "which the workspace would show" in problem(
        tmp_path, {"answer/task.yaml": spec}, "answer/task.yaml"
    )


@pytest.mark.parametrize("model", ["oracle", "nop", "tamper", "oracle/alternatives/x", "tamper/conftest"])
def test_built_in_models_are_named_without_a_provider(tmp_path: Path, model: str) -> None:
    assert task(tmp_path, files(), "a.yaml", models=(model,)).model == model
