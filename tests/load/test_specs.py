"""SPEC words: files, directories and built-in names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import EmptySelection
from pi_batch.load.specs import builtin_directory, builtin_names
from pi_batch.spec import Plan
from tests.load.loading import plan, problem, problems, task, write


def ids(made: Plan) -> list[str]:
    return [planned.planned.task_id for planned in made.tasks]


def test_a_directory_stands_for_its_own_yaml_files_in_order(tmp_path: Path) -> None:
    files = {
        "t/b.yaml": "prompt: x\n",
        "t/a.yml": "prompt: x\n",
        "t/.hidden.yaml": "no spec",
        "t/notes.md": "no spec",
        "t/deeper/c.yaml": "no spec",
        "t/d.yaml/file": "a directory",
    }
    made = plan(tmp_path, files, "t")
    assert ids(made) == ["a", "b"]
    assert [planned.planned.spec for planned in made.tasks] == ["t/a.yml", "t/b.yaml"]


def test_the_current_directory_is_a_directory(tmp_path: Path) -> None:
    made = plan(tmp_path, {"a.yaml": "prompt: x\n"}, ".")
    assert [planned.planned.spec for planned in made.tasks] == ["a.yaml"]


def test_a_directory_without_specs_is_an_empty_selection(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    with pytest.raises(EmptySelection, match=r"^no task in t$"):
        plan(tmp_path, {}, "t")


def test_a_file_named_in_two_ways_runs_once(tmp_path: Path) -> None:
    made = plan(
        tmp_path, {"t/a.yaml": "prompt: x\n"}, "t", "t/a.yaml", "./t/../t/a.yaml", str(tmp_path / "t")
    )
    assert ids(made) == ["a"]


def test_mistakes_of_all_files_of_a_directory_are_told(tmp_path: Path) -> None:
    files = {"t/a.yaml": "promt: x\n", "t/b.yaml": "prompt: x\n", "t/c.yaml": "id: c\n"}
    assert [line.split(":")[0] for line in problems(tmp_path, files, "t")] == [
        "t/a.yaml",
        "t/a.yaml",
        "t/c.yaml",
    ]


def test_a_suite_and_its_tasks_in_one_directory_clash_with_both_places(tmp_path: Path) -> None:
    files = {"t/a.yaml": "prompt: x\n", "t/suite.yaml": "tasks: [a.yaml]\n"}
    line = problem(tmp_path, files, "t")
    assert line == "t/a.yaml:1: id: the task 'a' runs twice: by itself and in a suite, or in two suites"


def test_what_does_not_exist_is_one_line_each(tmp_path: Path) -> None:
    assert problems(tmp_path, {}, "gone.yaml", "also/gone.yaml") == [
        "gone.yaml: no such file or directory, and no built-in task",
        "also/gone.yaml: no such file or directory, and no built-in task",
    ]


def test_a_built_in_name_is_found_after_files(tmp_path: Path) -> None:
    write(tmp_path, {"built/fix-tests.yaml": "prompt: built in\n", "built/review.yml": "prompt: x\n"})
    write(tmp_path, {"cwd/.keep": ""})
    cwd = tmp_path / "cwd"
    made = task(cwd, {}, "fix-tests", builtin_dir=tmp_path / "built")
    assert (made.planned.spec, made.planned.task_id, made.planned.suite) == (
        "builtin:fix-tests",
        "fix-tests",
        "fix-tests",
    )
    assert made.spec_dir == str(cwd)
    own = task(cwd, {"fix-tests": "id: own\nprompt: mine\n"}, "fix-tests", builtin_dir=tmp_path / "built")
    assert own.spec.prompt == "mine"


def test_a_misspelt_built_in_name_gets_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, {"built/fix-tests.yaml": "prompt: x\n", "built/review.yml": "prompt: x\n"})
    line = problem(tmp_path, {}, "fix-test", builtin_dir=tmp_path / "built")
    assert line == (
        "fix-test: no such file or directory, and no built-in task, did you mean 'fix-tests'? "
        "(built-in tasks: fix-tests, review)"
    )


def test_a_mistake_in_a_built_in_has_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"built/x.yaml": "promt: x\nprompt: y\n"})
    line = problem(tmp_path, {}, "x", builtin_dir=tmp_path / "built")
    assert line == "builtin:x:1: promt: unknown key, did you mean 'prompt'?"


def test_a_built_in_starts_in_the_current_directory(tmp_path: Path) -> None:
    text = "prompt: '{{ inputs.x }}'\ninputs: {x: {type: file, default: notes.txt}}\nworkspace: {path: sub}\n"
    write(tmp_path, {"built/b.yaml": text, "cwd/notes.txt": "of the cwd"})
    made = task(tmp_path / "cwd", {}, "b", builtin_dir=tmp_path / "built")
    assert made.spec.prompt == "of the cwd"
    assert made.spec_dir == str(tmp_path / "cwd")


def test_the_built_ins_of_this_package_load(tmp_path: Path) -> None:
    for name in builtin_names(builtin_directory()):
        from pi_batch.load.plan import check_specs
        from tests.load.loading import options

        made = check_specs([name], options(tmp_path, models=(), builtin_dir=None))
        assert made.tasks


@pytest.mark.parametrize("word", ["a\nb", "x" * 5000, "a\udcffb", "caf\u00e9", "", " ", "a\0b"])
def test_strange_words_are_one_printable_line(tmp_path: Path, word: str) -> None:
    line = problem(tmp_path, {}, word)
    line.encode()
    assert "\n" not in line


def test_an_empty_word_is_not_the_current_directory(tmp_path: Path) -> None:
    line = problem(tmp_path, {"a.yaml": "prompt: x\n"}, "")
    assert line == "SPEC: got '', need a file, a directory or a built-in name"


def test_a_file_with_a_strange_name_is_shown_on_one_line(tmp_path: Path) -> None:
    line = problem(tmp_path, {"a\nb.yaml": "id: a\nprompt: [x]\n"})
    assert line == "a\\nb.yaml:2: prompt: got a list, need text"


def test_a_pipe_is_no_spec(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "p.yaml")
    assert problem(tmp_path, {}, "p.yaml") == "p.yaml: not a regular file"
