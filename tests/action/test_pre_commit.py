"""The hooks of .pre-commit-hooks.yaml: their own rules, and the real pre-commit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.action.files import ROOT
from tests.action.linters import find
from tests.cases.turns import call, say, turn, write_session
from tests.workspaces.repositories import git, make_repository, write

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
ANSWER = {
    "verdict": "request_changes",
    "summary": "A division by zero.",
    "findings": [{"file": "a b.py", "line": 2, "severity": "error", "message": "divides by zero"}],
}


def test_no_hook_takes_file_names() -> None:
    """pre-commit/pre-commit#3104: with many names a hook is started several times, partly at once."""
    assert HOOKS
    assert all(hook["pass_filenames"] is False for hook in HOOKS)


def test_hooks_have_names_of_their_own_and_a_description() -> None:
    assert len({hook["id"] for hook in HOOKS}) == len(HOOKS)
    for hook in HOOKS:
        assert hook["id"].startswith("pi-batch-")
        assert hook["entry"].split()[0] == "pi-batch"
        assert hook["language"] == "python"
        assert len(hook["description"]) > 30


class Repository:
    """A repository with two hooks installed by the real pre-commit."""

    def __init__(self, base: Path) -> None:
        self.program = find("pre-commit")
        self.top = make_repository(base / "r", {"a b.py": "x = 1\n", "-dash.py": "1\n"})
        read = turn(call("read", path=".pi-batch-staged.diff"), call("read", path="a b.py"))
        session = write_session(base / "session.jsonl", [read, say(json.dumps(ANSWER))])
        entry = f"pi-batch hook -m replay/{session}"
        hook = {"language": "system", "pass_filenames": False, "entry": entry}
        hooks = [{"id": "one", "name": "one", **hook}, {"id": "two", "name": "two", **hook}]
        write(
            self.top, {".pre-commit-config.yaml": json.dumps({"repos": [{"repo": "local", "hooks": hooks}]})}
        )
        git(self.top, "add", "-A")
        self.env = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(base),
            "PRE_COMMIT_HOME": str(base / "pc"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
        }
        self.call(self.program, "install")

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=self.top, env=self.env, capture_output=True, text=True, check=False, timeout=60
        )


@pytest.mark.peer
def test_a_commit_is_judged_by_what_is_staged_and_stopped(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    head = git(repository.top, "rev-parse", "HEAD")
    write(repository.top, {"a b.py": "x = 1\nx = 1 / 0\n"})
    git(repository.top, "add", "-A")
    write(repository.top, {"a b.py": "x = 1\nx = 1 / 0\nnot staged\n"})
    done = repository.call("git", "commit", "-qm", "try")
    assert done.returncode == 1
    assert done.stderr.count("a b.py:2: error: divides by zero") == 2
    assert git(repository.top, "rev-parse", "HEAD") == head
    assert (repository.top / "a b.py").read_text().endswith("not staged\n")
    (run,) = (repository.top / ".git/pi-batch/runs").glob("2*")
    session = next(run.glob("tasks/*/session.jsonl")).read_text(encoding="utf-8")
    assert "not staged" not in session


@pytest.mark.peer
def test_a_partial_commit_is_judged_by_its_own_index(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    git(repository.top, "commit", "-qm", "config", "--no-verify")
    write(repository.top, {"a b.py": "only this\n", "-dash.py": "not this\n"})
    done = repository.call("git", "commit", "-qm", "try", "--", "a b.py")
    assert done.returncode == 1
    (run,) = (repository.top / ".git/pi-batch/runs").glob("2*")
    session = next(run.glob("tasks/*/session.jsonl")).read_text(encoding="utf-8")
    assert "only this" in session
    assert "not this" not in session


@pytest.mark.peer
def test_two_starts_at_once_share_nothing(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    many = {f"{number:04}-{'n' * 110}.txt": "x\n" for number in range(300)}
    write(repository.top, {**many, "a b.py": "x = 1\nx = 1 / 0\n"})
    git(repository.top, "add", "-A")
    words = ["pi-batch", "hook", "--no-cache", "-m", f"replay/{tmp_path}/session.jsonl"]
    started = [
        subprocess.Popen(words, cwd=repository.top, env=repository.env, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[0].count(b"divides by zero") for process in started] == [1, 1]
    assert len(list((repository.top / ".git/pi-batch/runs").glob("2*/junit.xml"))) == 2


@pytest.mark.peer
@pytest.mark.timeout(300)
def test_every_hook_can_be_tried_on_a_repository_of_many_files(tmp_path: Path) -> None:
    """pre-commit/pre-commit#3104: installed by pre-commit itself, on 3,000 files."""
    program = find("pre-commit")
    if not (ROOT / ".git").exists():
        pytest.skip("pre-commit installs from a repository, and this is none")
    top = make_repository(tmp_path / "r", {"-dash.py": "1\n"})
    write(top, {f"{number:04}-{'n' * 110}.txt": "x\n" for number in range(3000)})
    write(top, {"a b.py": "x = 1\nx = 1 / 0\n"})
    git(top, "add", "-A")
    fine = {"verdict": "approve", "summary": "Fine.", "findings": []}
    session = write_session(
        tmp_path / "session.jsonl", [turn(call("read", path=".pi-batch-staged.diff")), say(json.dumps(fine))]
    )
    env = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(tmp_path / "pc"),
        "PI_BATCH_MODEL": f"replay/{session}",
        **{name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "UV_"))},
    }
    words = [program, "try-repo", str(ROOT), "--all-files", "--verbose"]
    done = subprocess.run(words, cwd=top, env=env, capture_output=True, text=True, check=False, timeout=280)
    if "No matching distribution" in done.stdout or "Connection" in done.stdout:
        pytest.skip("no package index")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^pi-batch (\w+)\.+.*?(Passed|Skipped)$", done.stdout, re.MULTILINE) == [
        ("check", "Passed"),
        ("review", "Passed"),
        ("validate", "Skipped"),
    ]
    assert len(list((top / ".git/pi-batch/runs").glob("2*/junit.xml"))) == 1  # the second hook asked nobody
