"""Tasks over many repositories: one specification, a matrix of places."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.load.plan import load_plan
from pi_batch.spec import to_json
from tests.load.loading import options, plan, problem, problems, task

SUITE = """
    tasks:
      - id: lint
        prompt: Run {{ inputs.command }}.
        inputs: {command: {type: command, default: make lint}}
    matrix:
      repo:
        - https://example.org/me/a.git
        - {repo: git@example.org:me/b.git, ref: stable, path: sub/dir, inputs: {command: tox}}
        - {repo: ../c, name: third}
"""


def test_a_task_runs_in_every_repository_of_the_matrix(tmp_path: Path) -> None:
    made = plan(tmp_path, {"night/s.yaml": SUITE})
    assert [one.planned.key for one in made.tasks] == ["lint--a", "lint--b", "lint--third"]
    assert [one.spec.workspace.repo for one in made.tasks] == [
        "https://example.org/me/a.git",
        "git@example.org:me/b.git",
        str(tmp_path / "c"),
    ]
    assert [one.spec.workspace.ref for one in made.tasks] == [None, "stable", None]
    assert [one.spec.workspace.path for one in made.tasks] == [".", "sub/dir", "."]
    assert [one.spec.prompt for one in made.tasks] == ["Run make lint.", "Run tox.", "Run make lint."]
    assert [one.planned.repo_name for one in made.tasks] == ["a", "b", "third"]
    assert [one.group for one in made.tasks] == ["s/a", "s/b", "s/third"]


def test_repositories_models_and_inputs_are_combined(tmp_path: Path) -> None:
    text = """
        tasks: [{id: t, prompt: "{{ inputs.n }}", inputs: {n: {}}}]
        matrix: {repo: [a, {repo: b, inputs: {n: own}}], model: [fake/x, fake/y], n: ["1", "2"]}
    """
    made = plan(tmp_path, text, models=())
    found = [(one.planned.repo_name, one.model, one.spec.prompt) for one in made.tasks]
    assert found == [
        (repo, model, prompt)
        for model in ("fake/x", "fake/y")
        for repo, prompt in (("a", "1"), ("a", "2"), ("b", "own"))
    ]
    assert len({one.planned.key for one in made.tasks}) == len(found)
    assert made.tasks[2].planned.key == "t--b--fake-x"


def test_a_key_does_not_change_when_a_repository_is_added(tmp_path: Path) -> None:
    one = plan(tmp_path, "tasks: [{id: t, prompt: p}]\nmatrix: {repo: [x/a]}\n").tasks[0].planned.key
    two = plan(tmp_path, "tasks: [{id: t, prompt: p}]\nmatrix: {repo: [x/a, x/b]}\n").tasks[0].planned.key
    assert one == two == "t--a"


def test_what_is_typed_on_the_command_line_wins_everywhere(tmp_path: Path) -> None:
    made = plan(tmp_path, {"s.yaml": SUITE}, inputs={"command": "true"})
    assert {one.spec.prompt for one in made.tasks} == {"Run true."}


def test_one_task_may_name_its_repository(tmp_path: Path) -> None:
    text = "prompt: p\nworkspace: {repo: 'https://me:hunter2@example.org/a', ref: v1}\n"
    made = task(tmp_path, text)
    assert made.planned.key == "a"
    assert (made.planned.repo, made.planned.ref, made.planned.repo_name) == (
        "https://example.org/a",
        "v1",
        "",
    )
    assert "hunter2" not in repr(made.spec) + str(to_json(made.spec))


def test_a_repository_of_the_suites_defaults_starts_in_the_suites_directory(tmp_path: Path) -> None:
    files = {
        "s.yaml": "defaults: {workspace: {repo: r.git}}\ntasks: [t/*.yaml]\n",
        "t/one.yaml": "prompt: p\n",
    }
    (made,) = plan(tmp_path, files, "s.yaml").tasks
    assert made.spec.workspace.repo == str(tmp_path / "r.git")


def test_budgets_of_repositories(tmp_path: Path) -> None:
    text = """
        tasks: [{id: t, prompt: p}]
        repo_budget: {cost_usd: 2, turns: 9}
        matrix: {repo: [a, {repo: b, budget: {turns: 30}}, {repo: c, budget: {cost_usd: null}}]}
        budget: {cost_usd: 5}
    """
    made = plan(tmp_path, text)
    limits = {name: (budget.cost_usd, budget.turns) for name, budget in made.group_budgets.items()}
    assert limits == {"a/a": (2.0, 9), "a/b": (2.0, 30), "a/c": (None, 9)}
    assert made.budget.cost_usd == 5


REPO = "tasks: [{id: t, prompt: p}]\nmatrix:\n  repo:\n    - "


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ("'ext::sh -c x'", "matrix.repo[0]: got 'ext::sh -c x', need an https, ssh or file URL or a path"),
        ("{repo: '--upload-pack=x'}", "matrix.repo[0].repo: got '--upload-pack=x', need a URL or path"),
        ("{repo: 'ssh://u:hunter2@h/a'}", "matrix.repo[0].repo: got 'ssh://***@h/a', need ssh://user@host"),
        ("{repo: a, ref: -x}", "matrix.repo[0].ref: got '-x', need the name of a branch"),
        ("{repo: a, path: ../b}", "matrix.repo[0].path: got '../b', need a path within"),
        ("{repo: a, name: x--y}", "matrix.repo[0].name: got 'x--y', need at most 60 letters"),
        ("{repo: a, branch: main}", "matrix.repo[0].branch: unknown key"),
        ("{ref: main}", "matrix.repo[0].repo: missing, need text"),
        ("{repo: a, inputs: {x: 1}}", "matrix.repo[0].inputs.x: no task of the suite has an input"),
        ("{repo: a, inputs: {x: [1]}}", "matrix.repo[0].inputs.x: need one value"),
        ("[a]", "matrix.repo[0]: got a list, need a mapping"),
        ("", "matrix.repo[0]: got nothing, need a mapping"),
    ],
)
def test_what_is_wrong_with_a_repository_of_the_matrix_is_one_line(
    tmp_path: Path, item: str, line: str
) -> None:
    assert problem(tmp_path, f"{REPO}{item}\n").startswith(f"a.yaml:4: {line}")


def test_two_repositories_of_one_name_are_told_apart_by_the_user(tmp_path: Path) -> None:
    found = problem(tmp_path, f"{REPO}x/a\n    - y/a.git\n")
    assert found.startswith("a.yaml:5: matrix.repo[1]: a second repository with the name 'a'")
    made = plan(tmp_path, f"{REPO}x/a\n    - {{repo: y/a.git, name: other}}\n")
    assert [one.planned.key for one in made.tasks] == ["t--a", "t--other"]


@pytest.mark.parametrize("value", ["a", "[]", "{a: b}"])
def test_repositories_are_a_list(tmp_path: Path, value: str) -> None:
    found = problem(tmp_path, f"tasks: [{{id: t, prompt: p}}]\nmatrix: {{repo: {value}}}\n")
    assert "need a list of repositories" in found


@pytest.mark.parametrize(
    ("workspace", "line"),
    [
        ("{repo: a, isolation: copy}", "workspace.isolation: got 'copy', need clone"),
        ("{repo: a, isolation: none}", "workspace.isolation: got 'none', need clone"),
        ("{repo: a, path: ..}", "workspace.path: got '..', need a directory of the repository"),
        ("{ref: main}", "workspace.ref: belongs to repo:"),
        ("{repo: 'ext::x'}", "workspace.repo: got 'ext::x', need"),
        (
            "{path: 'https://u:hunter2@h/a'}",
            "workspace.path: got 'https://h/a', need a path: a URL is",
        ),
    ],
)
def test_what_does_not_fit_a_repository(tmp_path: Path, workspace: str, line: str) -> None:
    assert problem(tmp_path, f"prompt: p\nworkspace: {workspace}\n").startswith(f"a.yaml:2: {line}")


def test_a_task_of_its_own_repository_does_not_fit_a_matrix_of_them(tmp_path: Path) -> None:
    text = "tasks: [{id: t, prompt: p, workspace: {repo: z}}]\nmatrix: {repo: [a]}\n"
    assert "matrix has repositories, too" in problem(tmp_path, text)


@pytest.mark.parametrize("repo", ["../a", "file:///srv/a.git", "/srv/a"])
def test_a_distrusting_task_takes_no_local_repository(tmp_path: Path, repo: str) -> None:
    text = f"prompt: p\nworkspace: {{repo: '{repo}'}}\n"
    assert "with trust: untrusted" in problem(tmp_path, f"{text}trust: untrusted\n")
    assert "with trust: untrusted" in problem(tmp_path, text, trust="untrusted")
    assert task(tmp_path, "prompt: p\nworkspace: {repo: 'https://h/a'}\ntrust: untrusted\n")


def test_too_many_results_are_counted_before_they_are_made(tmp_path: Path) -> None:
    repos = ", ".join(f"r{number}" for number in range(200))
    text = f"tasks: [{{id: t, prompt: p}}]\nmatrix: {{repo: [{repos}]}}\nrepeat: 51\n"
    assert "makes 10200 results (models x repositories x inputs x repeat)" in problem(tmp_path, text)


def test_an_input_may_be_called_repo(tmp_path: Path) -> None:
    text = (
        "tasks: [{id: t, prompt: '{{ inputs.repo }}', inputs: {repo: {}}}]\nmatrix: {inputs: {repo: [x]}}\n"
    )
    made = task(tmp_path, text)
    assert (made.spec.prompt, made.planned.repo) == ("x", "")


def test_every_wrong_repository_is_named_at_once(tmp_path: Path) -> None:
    assert len(problems(tmp_path, f"{REPO}'-a'\n    - 'ext::b'\n    - {{repo: c, ref: ' '}}\n")) == 3


def test_built_in_tasks_run_over_repositories(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "tasks: [lint.yaml]\nmatrix: {repo: [a]}\ndefaults: {budget: {turns: 3}}\n"
    )
    (tmp_path / "lint.yaml").write_text("id: lint\nprompt: p\nworkspace: {path: ., isolation: clone}\n")
    (made,) = load_plan(["s.yaml"], options(tmp_path)).tasks
    assert made.planned.key == "lint--a"
