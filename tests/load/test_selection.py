"""--filter over tasks, tags and repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import EmptySelection
from tests.load.loading import plan

SUITE = """
    tasks:
      - {id: lint, prompt: p, tags: [cheap]}
      - {id: docs, prompt: p}
    matrix: {repo: [x/app, x/lib, {repo: x/lib, name: lib-old, ref: v1}]}
"""


@pytest.mark.parametrize(
    ("filters", "keys"),
    [
        (("repo:app",), ["lint--app", "docs--app"]),
        (("repo:lib*",), ["lint--lib", "lint--lib-old", "docs--lib", "docs--lib-old"]),
        (("lint", "repo:app"), ["lint--app"]),
        (("tag:cheap", "repo:app", "repo:lib"), ["lint--app", "lint--lib"]),
        (("lint", "docs", "repo:lib-old"), ["lint--lib-old", "docs--lib-old"]),
    ],
)
def test_repositories_narrow_where_and_all_else_what(
    tmp_path: Path, filters: tuple[str, ...], keys: list[str]
) -> None:
    made = plan(tmp_path, SUITE, filter=filters)
    assert [task.planned.key for task in made.tasks] == keys
    assert set(made.group_budgets) == {task.group for task in made.tasks}


def test_a_repository_that_is_not_there_is_said_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(
        EmptySelection, match=r"repo:ap \(tasks: lint, docs; repositories: app, lib, lib-old\)"
    ):
        plan(tmp_path, SUITE, filter=("repo:ap",))


def test_a_task_without_a_matrix_of_repositories_is_in_none(tmp_path: Path) -> None:
    with pytest.raises(EmptySelection):
        plan(tmp_path, "prompt: p\n", filter=("repo:*",))
