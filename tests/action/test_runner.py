"""The composite's own steps in a runner of our own: a failing repository, a recording, a second job."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.action.files import ACTION, ACTIONS, ROOT, read
from tests.runner_lines import commands, outputs
from tests.workspaces.repositories import commit, git

pytestmark = pytest.mark.slow
EXAMPLE = ROOT / "examples" / "fix-failing-test"


@dataclass
class Runner:
    """As much of a runner as composite actions need."""

    base: Path
    env: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def __post_init__(self) -> None:
        self.workspace, self.temp = self.base / "work", self.base / "temp"
        self.summary = self.base / "summary.md"
        venv = self.temp / "pi-batch"
        venv.mkdir(parents=True)
        (venv / "venv").symlink_to(Path(sys.executable).parents[1])
        self.env = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_ACTOR": "ann",
            "GITHUB_JOB": "fix",
            "RUNNER_TEMP": str(self.temp),
        }

    def uses(self, action: Path, **given: str) -> tuple[int, dict[str, str]]:
        """Run an action's own steps; the first exit code that is not 0, and the action's outputs."""
        content = read(action)
        inputs = {name: str(spec.get("default", "")) for name, spec in content["inputs"].items()} | given
        seen: dict[str, dict[str, str]] = {}
        code = 0
        for number, step in enumerate(content["runs"]["steps"]):
            if "run" not in step or step["name"] == "Install pi-batch":
                continue
            if step["name"] == "Apply" and "apply" in inputs and inputs["apply"] == "none":
                continue
            values = {f"inputs.{name}": value for name, value in inputs.items()} | {
                f"steps.{name}.outputs.{key}": value
                for name, found in seen.items()
                for key, value in found.items()
            }
            values["runner.temp"] = str(self.temp)
            result, found = self._step(action, number, step, values)
            seen[step.get("id", str(number))] = found
            code = code or result
            if result:
                break
        return code, seen.get("run", {})

    def _step(
        self, action: Path, number: int, step: Mapping[str, Any], values: Mapping[str, str]
    ) -> tuple[int, dict[str, str]]:
        def expanded(text: str) -> str:
            return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: values.get(match[1], ""), text)

        file = self.base / f"output-{action.parent.name}-{number}"
        file.touch()
        env = {name: expanded(value) for name, value in step.get("env", {}).items()}
        paths = {"GITHUB_ACTION_PATH": str(action.parent), "GITHUB_OUTPUT": str(file)}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.workspace / expanded(step.get("working-directory", ".")),
            env={**self.env, **env, **paths},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=120,
        )
        self.log += done.stdout.decode()
        return done.returncode, _outputs(file)


def _outputs(file: Path) -> dict[str, str]:
    """Outputs in both of the file's forms."""
    text = file.read_text(encoding="utf-8")
    plain = dict(re.findall(r"^([a-z-]+)=(.*)$", text.split("<<")[0], re.MULTILINE))
    rest = "".join(line for line in text.splitlines(keepends=True) if not re.match(r"^[a-z-]+=", line))
    return {**plain, **outputs(rest)} if rest else plain


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    shutil.copytree(EXAMPLE, made.workspace)
    text = (made.workspace / "task.yaml").read_text(encoding="utf-8")
    (made.workspace / "task.yaml").write_text(
        text.replace("isolation: copy", "isolation: clone"), encoding="utf-8"
    )
    git(made.workspace, "init", "-q", "-b", "main")
    for name, value in (("user.name", "t"), ("user.email", "t@example.invalid")):
        git(made.workspace, "config", name, value)
    commit(made.workspace, "base")
    git(tmp_path, "clone", "-q", "--bare", str(made.workspace), str(tmp_path / "bare.git"))
    git(made.workspace, "remote", "add", "origin", str(tmp_path / "bare.git"))
    return made


def test_a_failing_repository_is_fixed_and_the_patch_published_by_a_second_job(runner: Runner) -> None:
    code, found = runner.uses(ACTIONS[0], task="task.yaml", model="replay/session.jsonl")
    assert code == 0, runner.log
    assert found["outcome"] == "passed"
    assert found["changed-files"] == "fairsplit/split.py"
    assert Path(found["patch"]).is_file()
    assert Path(found["run-directory"]).is_relative_to(runner.temp)
    assert found["artifact"].startswith("pi-batch-fix-")
    assert runner.summary.read_text(encoding="utf-8").startswith("## pi-batch: 1 passed")
    assert [found.name for found in commands(runner.log)] == []
    assert git(runner.workspace, "status", "--porcelain") == ""

    shutil.copytree(found["run-directory"], runner.temp / "pi-batch" / "fetched")
    code, _ = runner.uses(ACTIONS[1], artifact=found["artifact"], apply="branch", **{"github-token": "token"})
    assert code == 0, runner.log
    bare = runner.base / "bare.git"
    assert "fairsplit/split.py" in git(bare, "show", "--stat", "--format=%an", "pi-batch/fix-failing-test")
    assert git(bare, "show", "-s", "--format=%an", "pi-batch/fix-failing-test") == "github-actions[bot]"


def test_a_task_that_fails_fails_the_step_and_says_why(runner: Runner) -> None:
    spec = (runner.workspace / "task.yaml").read_text(encoding="utf-8").replace("verify: 2", "verify: 1")
    (runner.workspace / "task.yaml").write_text(spec, encoding="utf-8")
    code, found = runner.uses(
        ACTIONS[0], task="task.yaml", model="replay/session.jsonl", inputs="test_command=exit 1"
    )
    assert code == 1, runner.log
    assert found["outcome"] == "failed"
    assert found["exit-code"] == "1"
    (error,) = [found for found in commands(runner.log) if found.name == "error"]
    assert error.properties["file"] == "task.yaml"


def test_wrong_inputs_and_actors_end_the_step_in_one_line(runner: Runner) -> None:
    code, found = runner.uses(ACTIONS[0], task="task.yaml", inputs="oops")
    assert (code, found["outcome"]) == (2, "error")
    code, found = runner.uses(ACTIONS[0], task="task.yaml", **{"allowed-actors": "bob"})
    assert (code, found["outcome"]) == (0, "skipped")
    assert "Traceback" not in runner.log


def test_modules_of_the_checkout_are_not_imported(runner: Runner) -> None:
    for name in ("pi_batch", "httpx", "json", "click", "sitecustomize", "shlex"):
        (runner.workspace / f"{name}.py").write_text("print('EVIL')\nraise SystemExit(9)\n", encoding="utf-8")
    code, _ = runner.uses(ACTIONS[0], task="task.yaml", model="replay/session.jsonl")
    assert "EVIL" not in runner.log
    assert code == 0, runner.log


@pytest.mark.peer
def test_the_set_up_step_installs_what_the_lock_names(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path), "HOME": str(tmp_path)}
    command = ["bash", str(ACTION / "setup.sh")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    if "No matching distribution" in done.stderr or "Connection" in done.stderr:
        pytest.skip("no package index")
    assert done.returncode == 0, done.stderr
    program = tmp_path / "pi-batch/venv/bin/pi-batch"
    assert subprocess.run([str(program), "--version"], check=True, capture_output=True).stdout
    assert subprocess.run(command, env=env, check=True, timeout=5).returncode == 0
