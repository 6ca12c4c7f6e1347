"""Whole imports: what is written, what is said of each task, and that it can be run."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from pi_batch.load.options import PlanOptions
from pi_batch.load.plan import load_plan
from tests.cli.calling import Called, Desk
from tests.peers.foreign import harbor, terminal_bench
from tests.workspaces.repositories import git

GOLD = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-old
"""
TESTS = """\
diff --git a/tests/test_calc.py b/tests/test_calc.py
new file mode 100644
--- /dev/null
+++ b/tests/test_calc.py
@@ -0,0 +1,4 @@
+from calc import add
+
+def test_add():
+    assert add(1, 2) == 3
"""


@pytest.fixture
def rows(desk: Desk) -> list[dict[str, Any]]:
    """A repository with one mistake, and the row of its repair."""
    repository = desk.path / "repos/acme/calc"
    repository.mkdir(parents=True)
    git(repository, "init", "-q")
    desk.write("repos/acme/calc/calc.py", "def add(a, b):\n    return a - b\n")
    desk.write("repos/acme/calc/gone.txt", "old\n")
    git(repository, "add", "-A")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "start")
    row = {
        "instance_id": "acme__calc-1",
        "repo": "acme/calc",
        "base_commit": git(repository, "rev-parse", "HEAD").strip(),
        "problem_statement": "add() subtracts",
        "test_patch": TESTS,
        "patch": GOLD,
        "FAIL_TO_PASS": ["tests/test_calc.py::test_add"],
        "PASS_TO_PASS": [],
    }
    return [row]


def swebench(desk: Desk, rows: list[dict[str, Any]], *words: str) -> Called:
    desk.write("rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    return desk.call("suite", "import", "swebench", "rows.jsonl", "suite", "--repos", "repos", *words)


def test_harbor_tasks_become_a_suite_and_the_others_are_said(desk: Desk) -> None:
    harbor(desk.path / "set/good")
    harbor(desk.path / "set/image", environment__Dockerfile="FROM x\nRUN make\n")
    terminal_bench(desk.path / "set/old")
    done = desk.call("suite", "import", "harbor", "set", "suite")
    assert done.code == 1
    assert done.out.split("\n") == [
        "imported: good",
        "not imported: image: environment/Dockerfile:2: RUN make: needs an image",
        "imported: old",
        "2 imported, 1 not; pi-batch suite check suite proves them",
        "",
    ]
    plan = load_plan(["suite/suite.yaml"], PlanOptions(cwd=desk.path, models=("oracle",)))
    assert [task.planned.task_id for task in plan.tasks] == ["good", "old"]
    assert all(task.planned.digest for task in plan.tasks)


def test_an_instance_is_the_tree_of_its_commit_without_history_or_tests(
    desk: Desk, rows: list[dict[str, Any]]
) -> None:
    done = swebench(desk, rows, "--setup", "true")
    assert (done.code, done.err) == (0, "")
    task = desk.path / "suite/acme__calc-1"
    files = {path.relative_to(task).as_posix() for path in task.rglob("*") if path.is_file()}
    assert files == {
        "task.yaml",
        "workspace/calc.py",
        "workspace/gone.txt",
        "pi_batch_judge/judge.py",
        "pi_batch_judge/config.json",
        "pi_batch_judge/files/tests/test_calc.py",
        "solution/calc.py",
        "solution/.deleted",
    }
    assert (task / "solution/.deleted").read_text() == "gone.txt\n"
    assert "return a + b" in (task / "solution/calc.py").read_text()
    assert git(desk.path / "repos/acme/calc", "status", "--short") == ""
    plan = load_plan(["suite/suite.yaml"], PlanOptions(cwd=desk.path, models=("oracle",)))
    assert plan.tasks[0].spec.workspace.setup == ("true",)


def test_rows_that_cannot_be_had_are_one_line_each(desk: Desk, rows: list[dict[str, Any]]) -> None:
    (row,) = rows
    bad = [
        {**row, "instance_id": "no-repo", "repo": "acme/other"},
        {**row, "instance_id": "no-commit", "base_commit": "1" * 40},
        {**row, "instance_id": "no-patch", "test_patch": GOLD.replace("a - b", "a * b")},
        {**row, "instance_id": "option", "base_commit": "--output=/tmp/x"},
        {**row, "patch": ""},
        row,
    ]
    done = swebench(desk, bad)
    assert done.code == 1
    lines = done.out.split("\n")
    assert lines[0] == "not imported: no-repo: repository 'acme/other' is not in repos"
    assert lines[1].startswith("not imported: no-commit: base_commit 1111")
    assert lines[2].startswith("not imported: no-patch: test_patch does not apply to base_commit: ")
    assert lines[3].startswith("not imported: option: base_commit --output=/tmp/x is not in ")
    assert lines[4:6] == [
        "imported: acme__calc-1",
        "note: acme__calc-1: it has no patch, so there is no reference solution",
    ]
    assert lines[6] == "not imported: acme__calc-1: another instance has this id"
    assert sorted(path.name for path in (desk.path / "suite").iterdir()) == ["acme__calc-1", "suite.yaml"]


def test_a_patch_that_leaves_its_tree_is_not_applied(desk: Desk, rows: list[dict[str, Any]]) -> None:
    evil = TESTS.replace("tests/test_calc.py", "../../../evil.py")
    done = swebench(desk, [{**rows[0], "test_patch": evil}])
    assert done.code == 2
    assert "test_patch does not apply" in done.out
    assert not list(desk.path.parent.rglob("evil.py"))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("harbor", "nowhere", "suite"), "no such file or directory"),
        (("harbor", "empty", "suite"), "no task of that format"),
        (("harbor", "empty", "full"), "is there already and not empty"),
        (("swebench", "full/x", "suite"), "--repos DIR is needed"),
        (("swebench", "full/x", "suite", "--repos", "empty"), "no JSON"),
        (("swebench", "empty", "suite", "--repos", "empty"), "Is a directory"),
        (("other", "empty", "suite"), "'other' is not one of"),
    ],
)
def test_what_cannot_be_imported_is_one_line_and_nothing_is_written(
    desk: Desk, words: tuple[str, ...], complaint: str
) -> None:
    desk.write("full/x", "{")
    (desk.path / "empty").mkdir()
    done = desk.call("suite", "import", *words)
    assert (done.code, len(done.lines)) == (2, 1)
    assert complaint in done.err
    assert not (desk.path / "suite").exists()


@pytest.mark.slow
def test_imported_tasks_are_proven_by_their_own_solutions(desk: Desk, rows: list[dict[str, Any]]) -> None:
    swebench(desk, rows)
    harbor(desk.path / "set/hi")
    terminal_bench(desk.path / "set/old")
    desk.call("suite", "import", "harbor", "set", "other")
    for suite in ("suite", "other"):
        right = desk.call("run", suite, "-m", "oracle", "--output", f"right-{suite}", "--quiet")
        assert right.code == 0, right.out
        wrong = desk.call("run", suite, "-m", "nop", "--output", f"wrong-{suite}", "--quiet")
        assert (wrong.code, "passed" in wrong.out.split("\n")[1]) == (1, False)


@pytest.mark.peer
def test_swebench_s_own_reader_takes_the_predictions(desk: Desk, rows: list[dict[str, Any]]) -> None:
    utils = pytest.importorskip("swebench.harness.utils")
    swebench(desk, rows)
    desk.call("run", "suite", "-m", "oracle", "--output", "run", "--quiet")
    for name in ("preds.json", "all_preds.jsonl"):
        desk.call("export", "run", name, "--format", "swebench")
        (found,) = utils.get_predictions_from_file(str(desk.path / name), "none", "test")
        assert found["instance_id"] == "acme__calc-1"
        done = subprocess.run(
            ["git", "apply", "--check", "-"],
            cwd=desk.path / "suite/acme__calc-1/workspace",
            input=found["model_patch"].encode(),
            check=False,
        )
        assert done.returncode == 0
