"""Suites: tasks of their own and in other files, what they share, and what varies."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pi_batch.errors import EmptySelection
from pi_batch.results import EffectiveValue
from pi_batch.spec import Plan
from tests.load.loading import plan, problem, problems, task, write


def ids(made: Plan) -> list[str]:
    return [planned.planned.task_id for planned in made.tasks]


def keys(made: Plan) -> list[str]:
    return [planned.planned.key for planned in made.tasks]


# --- which tasks ----------------------------------------------------------------------------------


def test_tasks_stand_in_the_suite_or_in_files(tmp_path: Path) -> None:
    files = {
        "suite.yaml": """
            title: Nightly
            tasks:
              - tasks/b.yaml
              - {id: inline, prompt: x}
              - tasks/c*.yaml
        """,
        "tasks/b.yaml": "prompt: b\n",
        "tasks/c2.yaml": "prompt: c\n",
        "tasks/c1.yaml": "prompt: c\n",
        "tasks/c3.md": "no spec\n",
    }
    assert ids(plan(tmp_path, files, "suite.yaml")) == ["b", "inline", "c1", "c2"]


def test_paths_start_at_the_suite(tmp_path: Path) -> None:
    files = {"suites/s.yaml": "tasks: [../tasks/a.yaml]\n", "tasks/a.yaml": "prompt: x\n"}
    planned = task(tmp_path, files, "suites/s.yaml")
    assert planned.planned.spec == "tasks/a.yaml"
    assert planned.spec_dir == str(tmp_path / "tasks")


def test_a_directory_in_a_suite_stands_for_its_files(tmp_path: Path) -> None:
    files = {"s.yaml": "tasks: [tasks]\n", "tasks/b.yml": "prompt: x\n", "tasks/a.yaml": "prompt: x\n"}
    assert ids(plan(tmp_path, files, "s.yaml")) == ["a", "b"]


def test_a_glob_reaches_down_with_two_stars_and_never_the_suite_itself(tmp_path: Path) -> None:
    files = {"s.yaml": "tasks: ['**/*.yaml']\n", "x/y/a.yaml": "prompt: x\n", "b.yaml": "prompt: x\n"}
    assert ids(plan(tmp_path, files, "s.yaml")) == ["b", "a"]


def test_a_file_named_twice_runs_once(tmp_path: Path) -> None:
    files = {"s.yaml": "tasks: [a.yaml, '*.yaml', ./a.yaml]\n", "a.yaml": "prompt: x\n"}
    assert ids(plan(tmp_path, files, "s.yaml")) == ["a"]


def test_a_name_with_brackets_is_a_file_first(tmp_path: Path) -> None:
    files = {"s.yaml": "tasks: ['a[1].yaml']\n", "a[1].yaml": "id: a\nprompt: x\n"}
    assert ids(plan(tmp_path, files, "s.yaml")) == ["a"]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("gone.yaml", "got 'gone.yaml', which is no file"),
        ("taks.yaml", "got 'taks.yaml', which is no file, did you mean 'task'?"),
        ("'*.yml'", "got '*.yml', which matches no .yaml file in {directory}"),
        ("", "got nothing, need a path, a glob or a task"),
        ("''", "got '', need a path, a glob or a task"),
        ("[a]", "got a list, need a path, a glob or a task"),
        ("suite.yaml", "got 'suite.yaml', a suite; need a task: suites do not nest"),
    ],
)
def test_what_names_no_task_is_a_mistake(tmp_path: Path, item: str, message: str) -> None:
    files = {
        "s.yaml": f"tasks:\n  - {item}\n",
        "task.yaml": "prompt: x\n",
        "suite.yaml": "tasks: [task.yaml]\n",
    }
    expected = message.format(directory=tmp_path)
    assert problem(tmp_path, files, "s.yaml") == f"s.yaml:2: tasks[0]: {expected}"


def test_mistakes_in_a_task_file_have_its_name(tmp_path: Path) -> None:
    files = {"s.yaml": "tasks: [t/a.yaml, t/b.yaml]\n", "t/a.yaml": "promt: x\n", "t/b.yaml": "[]\n"}
    assert problems(tmp_path, files, "s.yaml") == [
        "t/a.yaml:1: promt: unknown key, did you mean 'prompt'?",
        "t/a.yaml:1: prompt: missing, need text",
        "t/b.yaml:1: got a list, need a mapping: a task with prompt:",
    ]


def test_an_inline_task_needs_an_id(tmp_path: Path) -> None:
    line = problem(tmp_path, "tasks:\n  - {prompt: x}\n")
    assert line == "a.yaml:2: tasks[0].id: missing, need text"


def test_name_is_told_to_be_id(tmp_path: Path) -> None:
    assert problems(tmp_path, "tasks:\n  - {name: a, prompt: x}\n") == [
        "a.yaml:2: tasks[0].name: unknown key, did you mean 'id'?",
        "a.yaml:2: tasks[0].id: missing, need text",
    ]


def test_ids_are_unique_and_both_places_are_named(tmp_path: Path) -> None:
    files = {"a.yaml": "prompt: x\nid: same\n", "b.yaml": "prompt: x\n\nid: Same\n"}
    assert problem(tmp_path, files) == "b.yaml:3: id: got 'Same', already the id of the task at a.yaml:2"


def test_ids_are_unique_within_a_suite(tmp_path: Path) -> None:
    text = "tasks:\n  - {id: a, prompt: x}\n  - {id: a, prompt: y}\n"
    assert problem(tmp_path, text) == "a.yaml:3: tasks[1].id: got 'a', already the id of the task at a.yaml:2"


def test_an_empty_suite_is_an_empty_selection(tmp_path: Path) -> None:
    with pytest.raises(EmptySelection, match=r"^no task in a\.yaml$"):
        plan(tmp_path, "tasks: []\n")


# --- the suite's own keys -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("repeat: 0", "repeat: got 0, need >= 1"),
        ("repeat: twice", "repeat: got 'twice', need a whole number"),
        ("max_parallel: 0", "max_parallel: got 0, need >= 1"),
        ("budget: {turns: -1}", "budget.turns: got -1, need >= 1"),
        ("budget: {turn: 1}", "budget.turn: unknown key, did you mean 'turns'?"),
        ("defaults:", "defaults: got nothing, need a mapping"),
        ("defaults: [x]", "defaults: got a list, need a mapping"),
        ("matrix: [x]", "matrix: got a list, need a mapping"),
        ("matrx: {}", "matrx: unknown key, did you mean 'matrix'?"),
        ("prompt: x", "prompt: unknown key, it belongs to a task, or under defaults:"),
        ("model: fake/x", "model: unknown key, it belongs to a task, or under defaults:"),
        ("jobs: 2", "jobs: unknown key, did you mean 'max_parallel'?"),
    ],
)
def test_each_mistake_of_a_suite_is_one_line(tmp_path: Path, field: str, line: str) -> None:
    text = f"tasks: [{{id: t, prompt: x}}]\n{field}\n"
    assert problem(tmp_path, text) == f"a.yaml:2: {line}"


@pytest.mark.parametrize("tasks", ["tasks: x", "tasks: {id: a}", "tasks:"])
def test_tasks_are_a_list(tmp_path: Path, tasks: str) -> None:
    assert "tasks: got " in problem(tmp_path, f"{tasks}\n")


def test_a_suite_without_tasks_is_told_so(tmp_path: Path) -> None:
    assert problem(tmp_path, "defaults: {prompt: x}\n") == "a.yaml:1: tasks: missing, need a list of values"


def test_the_budget_of_the_whole_is_the_plans(tmp_path: Path) -> None:
    made = plan(tmp_path, "tasks: [{id: t, prompt: x}]\nbudget: {cost_usd: 5}\nmax_parallel: 3\n")
    assert (made.budget.cost_usd, made.budget.turns, made.max_parallel) == (5, None, 3)
    assert made.tasks[0].spec.budget.cost_usd is None


def test_of_several_suites_the_smallest_limit_holds(tmp_path: Path) -> None:
    files = {
        "a.yaml": "tasks: [{id: a, prompt: x}]\nbudget: {turns: 9, tokens: 5}\nmax_parallel: 4\n",
        "b.yaml": "tasks: [{id: b, prompt: x}]\nbudget: {turns: 7}\nmax_parallel: 2\n",
        "c.yaml": "prompt: x\n",
    }
    made = plan(tmp_path, files)
    assert (made.budget.turns, made.budget.tokens, made.max_parallel) == (7, 5, 2)


# --- defaults -------------------------------------------------------------------------------------


def test_a_task_wins_over_defaults_key_by_key(tmp_path: Path) -> None:
    text = """
        defaults:
          prompt: default
          title: default
          budget: {turns: 9, tokens: 1000}
          permissions: {bash: {deny: ["git push*"]}}
        tasks:
          - id: a
            prompt: own
            budget: {turns: 3}
    """
    made = task(tmp_path, text)
    assert (made.spec.prompt, made.spec.title) == ("own", "default")
    assert (made.spec.budget.turns, made.spec.budget.tokens) == (3, 1000)
    assert made.spec.permissions.bash.deny == ("git push*",)
    assert made.settings["budget.turns"] == EffectiveValue(3, "spec")
    assert made.settings["budget.tokens"] == EffectiveValue(1000, "suite")
    assert made.settings["budget.wall_s"] == EffectiveValue(1800.0, "default")


def test_lists_replace(tmp_path: Path) -> None:
    text = """
        defaults: {tags: [x, y], verify: [make, test]}
        tasks: [{id: a, prompt: p, tags: [z], verify: []}]
    """
    made = task(tmp_path, text).spec
    assert (made.tags, made.verify) == (("z",), ())


def test_null_in_a_task_lifts_a_limit_of_the_suite(tmp_path: Path) -> None:
    text = "defaults: {budget: {turns: 9}}\ntasks: [{id: a, prompt: p, budget: {turns: null}}]\n"
    made = task(tmp_path, text)
    assert made.settings["budget.turns"] == EffectiveValue(None, "spec")
    assert made.spec.budget.turns is None


def test_a_schema_replaces_a_schema(tmp_path: Path) -> None:
    text = """
        defaults: {output: {schema: {type: object, required: [x]}, files: [a]}}
        tasks: [{id: a, prompt: p, output: {schema: {type: string}}}]
    """
    made = task(tmp_path, text).spec
    assert made.output.schema_ == {"type": "string"}
    assert made.output.files == ("a",)


def test_a_shorthand_replaces_a_mapping(tmp_path: Path) -> None:
    text = "defaults: {system: {replace: old}}\ntasks: [{id: a, prompt: p, system: new}]\n"
    made = task(tmp_path, text).spec
    assert (made.system.append, made.system.replace) == ("new", None)


def test_a_system_text_replaces_one_of_another_kind(tmp_path: Path) -> None:
    text = "defaults: {system: {append: old}}\ntasks: [{id: a, prompt: p, system: {replace: new}}]\n"
    made = task(tmp_path, text).spec
    assert (made.system.append, made.system.replace) == (None, "new")


def test_defaults_hold_for_files_too(tmp_path: Path) -> None:
    files = {
        "s.yaml": "defaults: {title: T, verify: make}\ntasks: [a.yaml, b.yaml]\n",
        "a.yaml": "prompt: x\ntitle: own\n",
        "b.yaml": "prompt: x\n",
    }
    made = plan(tmp_path, files, "s.yaml")
    assert [planned.spec.title for planned in made.tasks] == ["own", "T"]
    assert [planned.spec.verify[0].run for planned in made.tasks] == ["make", "make"]


def test_a_path_of_the_defaults_starts_at_the_suite(tmp_path: Path) -> None:
    files = {
        "s.yaml": "defaults: {workspace: {path: work}}\ntasks: [t/a.yaml, t/b.yaml]\n",
        "t/a.yaml": "prompt: x\n",
        "t/b.yaml": "prompt: x\nworkspace: {path: .}\n",
    }
    made = plan(tmp_path, files, "s.yaml")
    assert [planned.spec_dir for planned in made.tasks] == [str(tmp_path), str(tmp_path / "t")]


def test_a_mistake_in_defaults_is_told_once(tmp_path: Path) -> None:
    text = """
        defaults:
          budget: {turns: -1}
          verfiy: x
          id: a
        tasks:
          - {id: a, prompt: p}
          - {id: b, prompt: p}
    """
    assert problems(tmp_path, text) == [
        "a.yaml:2: defaults.budget.turns: got -1, need >= 1",
        "a.yaml:3: defaults.verfiy: unknown key, did you mean 'verify'?",
        "a.yaml:4: defaults.id: every task needs an id of its own",
    ]


def test_a_mistake_in_defaults_is_told_even_without_tasks(tmp_path: Path) -> None:
    line = problem(tmp_path, "defaults: {budget: {turns: -1}}\ntasks: []\n")
    assert line == "a.yaml:1: defaults.budget.turns: got -1, need >= 1"


def test_fields_of_defaults_and_task_must_fit(tmp_path: Path) -> None:
    text = """
        defaults: {verify_in: clean}
        tasks:
          - {id: a, prompt: p}
          - {id: b, prompt: p, workspace: {isolation: none}}
    """
    line = problem(tmp_path, text)
    assert line.startswith("a.yaml:1: tasks[1].verify_in: got 'clean', need isolation clone or copy")


# --- matrix and repeat ----------------------------------------------------------------------------


def test_a_matrix_is_a_product(tmp_path: Path) -> None:
    text = """
        defaults:
          inputs: {python: {}, fast: {type: boolean, default: false}}
        matrix:
          model: [fake/a, fake/b]
          inputs: {python: ["3.11", 3.12]}
        repeat: 2
        tasks:
          - {id: t, prompt: "{{ inputs.python }} {{ matrix.python }} {{ inputs.fast }}"}
    """
    made = plan(tmp_path, text, models=())
    assert len(made.tasks) == 8
    assert [planned.model for planned in made.tasks] == ["fake/a"] * 4 + ["fake/b"] * 4
    assert [planned.spec.prompt for planned in made.tasks[:4]] == ["3.11 3.11 false"] * 2 + [
        "3.12 3.12 false"
    ] * 2
    assert [planned.planned.repeat for planned in made.tasks[:4]] == [1, 2, 1, 2]
    assert {planned.settings["model"].source for planned in made.tasks} == {"suite"}
    assert len(set(keys(made))) == 8
    assert keys(made)[0].startswith("t--fake-a--")
    assert keys(made)[0].endswith("--1")


def test_an_input_may_stand_beside_the_model(tmp_path: Path) -> None:
    text = """
        matrix: {n: [1, 2]}
        tasks:
          - {id: t, prompt: "{{ inputs.n + 1 }}", inputs: {n: {type: integer}}}
    """
    made = plan(tmp_path, text)
    assert [planned.spec.prompt for planned in made.tasks] == ["2", "3"]
    assert [dict(planned.planned.inputs) for planned in made.tasks] == [{"n": 1}, {"n": 2}]


def test_a_task_without_that_input_runs_once(tmp_path: Path) -> None:
    text = """
        matrix: {inputs: {n: [1, 2]}}
        tasks:
          - {id: a, prompt: x}
          - {id: b, prompt: "{{ inputs.n }}", inputs: {n: {}}}
    """
    made = plan(tmp_path, text)
    assert ids(made) == ["a", "b", "b"]
    assert keys(made)[0] == "a"


def test_the_command_line_stills_a_dimension(tmp_path: Path) -> None:
    text = """
        matrix: {model: [fake/a, fake/b], inputs: {n: [1, 2]}}
        tasks:
          - {id: t, prompt: "{{ inputs.n }} {{ matrix.n }}", inputs: {n: {}}}
    """
    made = task(tmp_path, text, models=("fake/c",), inputs={"n": "7"})
    assert (made.model, made.spec.prompt, made.planned.key) == ("fake/c", "7 7", "t")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ("{model: fake/a}", "matrix.model: got 'fake/a', need a list of values"),
        ("{model: []}", "matrix.model: got an empty list, need a list of values"),
        ("{model: [gpt]}", "matrix.model[0]: got 'gpt', need provider/model, e.g. 'openai/gpt-4.1'"),
        ("{model: [fake/a, fake/a]}", "matrix.model[1]: got 'fake/a' a second time"),
        (
            "{modle: [fake/a]}",
            "matrix.modle: no task of the suite has an input of that name, did you mean 'model'?",
        ),
        ("{inputs: [n]}", "matrix.inputs: got a list, need a mapping: NAME: [value, ...]"),
        ("{inputs: {n: 1}}", "matrix.inputs.n: got '1', need a list of values"),
        ("{inputs: {n: [[1]]}}", "matrix.inputs.n[0]: got a list, need one value"),
        ("{inputs: {n: [~]}}", "matrix.inputs.n[0]: got nothing, need one value"),
        ("{inputs: {m: [1]}}", "matrix.inputs.m: no task of the suite has an input of that name"),
        ("{inputs: {n: [1]}, n: [2]}", "matrix.n: this input varies already"),
        ("{inputs: {n: [x]}}", "matrix.inputs.n: got 'x', need a whole number"),
        ("{inputs: {n: ['1']}}", "matrix.inputs.n: got '1', need a value of type integer without quotes"),
    ],
)
def test_each_mistake_of_a_matrix_is_one_line(tmp_path: Path, matrix: str, message: str) -> None:
    text = f"tasks: [{{id: t, prompt: x, inputs: {{n: {{type: integer, default: 1}}}}}}]\nmatrix: {matrix}\n"
    assert problem(tmp_path, text) == f"a.yaml:2: {message}"


def test_a_matrix_beyond_measure_is_refused_before_it_is_made(tmp_path: Path) -> None:
    values = ", ".join(str(number) for number in range(200))
    text = f"""
        matrix: {{inputs: {{a: [{values}], b: [{values}], c: [{values}]}}}}
        tasks: [{{id: t, prompt: x, inputs: {{a: {{}}, b: {{}}, c: {{}}}}}}]
    """
    line = problem(tmp_path, text)
    assert line == (
        "a.yaml:2: tasks[0]: makes 8000000 results (models x inputs x repeat), need at most 10000"
    )


def test_repeat_of_the_command_line_wins(tmp_path: Path) -> None:
    made = plan(tmp_path, "tasks: [{id: t, prompt: x}]\nrepeat: 5\n", repeat=2)
    assert keys(made) == ["t--1", "t--2"]
    assert all(planned.planned.shows_repeat for planned in made.tasks)


# --- what the report says -------------------------------------------------------------------------


def test_a_task_is_reported_under_its_suite_and_file(tmp_path: Path) -> None:
    files = {"suites/nightly.yaml": "tasks: [../a.yaml, {id: b, prompt: x}]\n", "a.yaml": "prompt: x\n"}
    first, second = plan(tmp_path, files, "suites/nightly.yaml").tasks
    assert (first.planned.suite, first.planned.spec) == ("nightly", "a.yaml")
    assert (second.planned.suite, second.planned.spec) == ("nightly", "suites/nightly.yaml")
    content = (tmp_path / "a.yaml").read_bytes()
    assert first.planned.spec_sha256 == hashlib.sha256(content).hexdigest()


def test_inline_tasks_differ_in_their_hash(tmp_path: Path) -> None:
    text = "tasks:\n  - {id: a, prompt: x}\n  - {id: b, prompt: x}\n"
    first, second = plan(tmp_path, text).tasks
    assert first.planned.spec_sha256 != second.planned.spec_sha256
    assert len(first.planned.spec_sha256) == 64


def test_one_task_is_a_suite_of_its_own_name(tmp_path: Path) -> None:
    assert task(tmp_path, {"fix.yaml": "prompt: x\nid: other\n"}).planned.suite == "fix"


def test_a_suite_that_cannot_read_a_task_says_so(tmp_path: Path) -> None:
    write(tmp_path, {"s.yaml": "tasks: [a.yaml, b.yaml]\n", "b.yaml": "prompt: x\n"})
    (tmp_path / "a.yaml").mkdir()
    (tmp_path / "a.yaml" / "x.yaml").symlink_to("x.yaml")
    assert ids(plan(tmp_path, {}, "s.yaml")) == ["b"]


def test_a_suite_may_name_built_in_tasks(tmp_path: Path) -> None:
    files = {
        "built/lint.yaml": "prompt: Lint {{ inputs.n }}.\ninputs: {n: {}}\nworkspace: {path: .}\n",
        "project/s.yaml": "tasks: ['builtin:lint']\nmatrix: {repo: [x/a], n: ['1', '2']}\n",
    }
    write(tmp_path, files)
    made = plan(tmp_path / "project", {}, "s.yaml", builtin_dir=tmp_path / "built")
    assert [task.spec.prompt for task in made.tasks] == ["Lint 1.", "Lint 2."]
    assert {task.planned.spec for task in made.tasks} == {"builtin:lint"}


def test_a_built_in_task_that_is_none_is_said_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, {"built/lint.yaml": "prompt: x\n"})
    line = problem(tmp_path, "tasks: ['builtin:lnt']\n", builtin_dir=tmp_path / "built")
    assert line == "a.yaml:1: tasks[0]: got 'builtin:lnt', which is no built-in task, did you mean 'lint'?"
