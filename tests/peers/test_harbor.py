"""Harbor and terminal-bench directories: what becomes a task, and what is said of what does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.peers.harbor import SCRIPT, find_tasks, read_task
from pi_batch.peers.task_files import Imported, Refused
from tests.peers.foreign import TOML, harbor, put, terminal_bench


def had(directory: Path) -> Imported:
    found = read_task(directory)
    assert isinstance(found, Imported), found
    return found


def refused(directory: Path) -> tuple[str, ...]:
    found = read_task(directory)
    assert isinstance(found, Refused)
    return found.reasons


def test_a_harbor_task_has_its_limits_its_tests_and_its_solution(tmp_path: Path) -> None:
    task = had(harbor(tmp_path / "Say Hi"))
    assert (task.id, task.wall_s, task.judge_timeout_s) == ("Say-Hi", 45.0, 90.0)
    assert task.tags == ("trivial", "easy", "programming")
    assert set(task.hidden) == {"judge.py", "config.json", "tests/test.sh", "tests/want.txt"}
    config = json.loads(task.hidden["config.json"].content)
    assert config == {"directory": "/app", "script": "test.sh", "has_reward": True, "env": {"WANTED": "hi"}}
    assert set(task.solution) == {SCRIPT}
    assert task.notes == ()


def test_a_terminal_bench_task_is_judged_by_the_exit_code_of_its_tests(tmp_path: Path) -> None:
    task = had(terminal_bench(tmp_path / "t"))
    assert (task.wall_s, task.judge_timeout_s, task.tags) == (900.0, 180.0, ("files", "easy"))
    config = json.loads(task.hidden["config.json"].content)
    assert (config["script"], config["has_reward"]) == ("run-tests.sh", False)
    assert set(task.hidden) == {"judge.py", "config.json", "tests/check.sh", "tests/run-tests.sh"}


@pytest.mark.parametrize(
    ("said", "prompt"),
    [
        ("Write /app/a/b.txt and `/app`.", "Write a/b.txt and `.`."),
        ("cd /app && ls /app/", "cd . && ls the current directory"),
        (
            "Look in /app, not in /apple or /srv/app.",
            "Look in the current directory, not in /apple or /srv/app.",
        ),
        ("See https://example.org/app/x.", "See https://example.org/app/x."),
        ("Nothing of it.", "Nothing of it."),
    ],
)
def test_paths_of_the_container_are_put_relative(tmp_path: Path, said: str, prompt: str) -> None:
    found = had(harbor(tmp_path / "t", instructionDOTmd=said)).prompt
    assert found.split("\n")[0] == prompt
    assert ("Paths are relative" in found) == (said != prompt)


def test_what_the_tests_need_and_files_that_name_the_container_are_noted(tmp_path: Path) -> None:
    task = had(
        harbor(
            tmp_path / "t",
            environment__Dockerfile="FROM x\nWORKDIR /app\nCOPY run.sh .\n",
            environment__runDOTsh="cat /app/x\n",
            tests__setupDOTsh="uvx --with pytest==8.4.1 -w numpy pytest\npip install pandas==2.0\n",
        )
    )
    assert task.notes == (
        "its tests need, installed where they run: pytest==8.4.1, numpy, pandas==2.0",
        "run.sh in the workspace names /app, which is not there",
    )


def test_a_task_without_a_solution_is_had_and_said(tmp_path: Path) -> None:
    directory = harbor(tmp_path / "t")
    (directory / "solution/solve.sh").unlink()
    task = had(directory)
    assert task.solution == {}
    assert task.notes == ("it has no solution that can be run, so nothing proves it",)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('docker_image = "a/b:c"', "environment.docker_image 'a/b:c': needs an image"),
        ("gpus = 2", "environment.gpus 2: not supported"),
        ('os = "windows"', "environment.os 'windows': not supported"),
        ('[[environment.mcp_servers]]\nname = "x"', "environment.mcp_servers: not supported"),
        ('[[steps]]\nname = "x"', "steps: tasks of several steps are not supported"),
    ],
)
def test_what_a_configuration_asks_for_and_cannot_have_is_said(
    tmp_path: Path, change: str, reason: str
) -> None:
    directory = harbor(tmp_path / "t", taskDOTtoml=f"{TOML}{change}\n")
    (directory / "environment/Dockerfile").unlink()
    assert refused(directory) == (reason,)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (
            {"environment__Dockerfile": "FROM x\nRUN make\n"},
            "environment/Dockerfile:2: RUN make: needs an image",
        ),
        ({"environment__docker-composeDOTyaml": "services: {}"}, "several containers are not supported"),
        ({"instructionDOTmd": "  \n"}, "the instruction is empty"),
        ({"solution__big": "x" * 70_000}, "the solution has more than 60,000 bytes"),
        ({"tests__testDOTsh": "uvx --from harbor-rewardkit rewardkit /tests"}, "rewardkit is not supported"),
        ({"taskDOTtoml": "version = "}, "cannot be read: Invalid value"),
        ({"taskDOTtoml": "verifier = 3"}, "cannot be read: "),
        (
            {"taskDOTtoml": "[agent]\ntimeout_sec = 'soon'"},
            "cannot be read: could not convert",
        ),
    ],
)
def test_what_a_task_lacks_is_one_line(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    (found,) = refused(harbor(tmp_path / "t", **files))
    assert reason in found
    assert "\n" not in found


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"taskDOTyaml": "instruction: x\nparser_name: swebench"}, "parser_name 'swebench': only pytest"),
        ({"taskDOTyaml": "instruction: [x]"}, "task.yaml: has no instruction"),
        ({"taskDOTyaml": "a: b: c"}, "cannot be read: task.yaml: "),
        (
            {"docker-composeDOTyaml": "services: {a: {}, b: {}}"},
            "2 containers are not supported",
        ),
    ],
)
def test_what_a_terminal_bench_task_lacks_is_one_line(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    (found,) = refused(terminal_bench(tmp_path / "t", **files))
    assert reason in found


def test_a_task_without_tests_or_instruction_is_refused(tmp_path: Path) -> None:
    directory = harbor(tmp_path / "a")
    (directory / "tests/test.sh").unlink()
    assert refused(directory) == ("test.sh is not there: nothing would judge",)
    directory = harbor(tmp_path / "b")
    (directory / "instruction.md").unlink()
    assert "instruction.md: No such file" in refused(directory)[0]


def test_tasks_are_found_where_they_are_and_below(tmp_path: Path) -> None:
    harbor(tmp_path / "set/tasks/b")
    harbor(tmp_path / "set/tasks/a")
    terminal_bench(tmp_path / "set/c")
    put(tmp_path / "set/no-task", readme="x")
    found = [path.name for path in find_tasks(tmp_path / "set")]
    assert found == ["c", "a", "b"]
    assert [path.name for path in find_tasks(tmp_path / "set/c")] == ["c"]
    assert find_tasks(tmp_path / "set/no-task") == ()
