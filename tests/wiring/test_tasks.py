"""A planned task's parts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.engine.legs import Work, read_earlier
from pi_batch.engine.retry import RetryPolicy
from pi_batch.engine.task_parts import TaskParts
from pi_batch.errors import LogWriteError, UsageError, WorkspaceError
from pi_batch.redact import Masker
from pi_batch.results import PlannedResult
from pi_batch.spec import ALL_TOOLS, PathRules, PermissionsSpec, PlannedTask, TaskSpec, WorkspaceSpec
from pi_batch.tools.write import Write
from pi_batch.wiring.gates import Gate
from pi_batch.wiring.models import ModelPool
from pi_batch.wiring.repositories import Repositories
from pi_batch.wiring.run_leg import Leg
from pi_batch.wiring.sandboxing import SandboxChooser
from pi_batch.wiring.scripting import Scripting
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings, SystemClock
from pi_batch.wiring.tasks import PermissionRules, TaskMaker
from tests.cases.turns import say, write_session


class Bench:
    """A run that is about to begin."""

    def __init__(self, path: Path, **environ: str) -> None:
        self.path = path
        self.warnings: list[tuple[str, str]] = []
        around = Surroundings(path, {"HOME": str(path / "home"), "PATH": "/bin", **environ})
        write_session(path / "s.jsonl", [say("hi")])
        for name in ("run", "temp", "source"):
            (path / name).mkdir()
        self.chooser = SandboxChooser.of(around, path / "run")
        work = Work({}, read_earlier(()))
        repositories = Repositories(around, path / "mirrors")
        self.maker = TaskMaker(
            around,
            Leg(path / "run", path / "temp", work),
            Masker(()),
            SystemClock(),
            ModelPool(around, Settings(around), has_cost_limit=False),
            self.chooser,
            Scripting(is_isolated=lambda: True),
            RetryPolicy(),
            repositories,
            Gate(repositories, None, SystemClock(), None),
            lambda key, text: self.warnings.append((key, text)),
        )

    def open(self, key: str = "t", model: str = "replay/s.jsonl", **spec: Any) -> TaskParts:
        """Open a task."""
        workspace = WorkspaceSpec(path="source", isolation="none")
        made = TaskSpec(**{"id": "t", "prompt": "p", "sandbox": "none", "workspace": workspace, **spec})
        planned = PlannedTask(
            PlannedResult(key, "t", "", "t.yaml", "0" * 64, model), made, str(self.path), model
        )
        asyncio.run(self.chooser.prepare([planned]))
        return self.maker.open(planned)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, LANG="C", NPM_TOKEN="not-for-children")


def test_each_task_has_directories_of_its_own(bench: Bench) -> None:
    first, second = bench.open("a"), bench.open("b")
    assert first.task_dir == bench.path / "run/tasks/a"
    assert first.task_dir_name == "tasks/a"
    assert first.state_dir != second.state_dir
    assert first.state_dir.parent == bench.path / "temp"


def test_a_task_directory_that_cannot_be_made_is_said(bench: Bench) -> None:
    (bench.path / "run/tasks").write_text("", encoding="utf-8")
    with pytest.raises(LogWriteError, match="tasks/t: cannot be made"):
        bench.open()


def test_a_recording_that_is_not_there_is_said(bench: Bench) -> None:
    with pytest.raises(UsageError, match="absent"):
        bench.open(model="replay/absent.jsonl")


def test_tools_are_the_specs(bench: Bench) -> None:
    assert list(bench.open().tools) == list(ALL_TOOLS)
    parts = bench.open(tools=("bash", "read", "codemode"))
    assert (
        [declared.name for declared in parts.declarations]
        == list(parts.tools)
        == ["bash", "read", "codemode"]
    )
    assert not parts.script_only


def test_with_codemode_only_the_others_are_for_scripts(bench: Bench) -> None:
    parts = bench.open(tools=("bash", "read", "codemode"), codemode="only")
    assert [declared.name for declared in parts.declarations] == ["codemode"]
    assert parts.script_only == {"bash", "read"}
    assert "tools.bash(command: str" in parts.declarations[0].description


def test_without_codemode_there_is_none(bench: Bench) -> None:
    assert "codemode" not in bench.open(tools=("read", "codemode"), codemode="off").tools
    assert "codemode" not in bench.open(tools=("read",)).tools


def test_children_get_what_the_spec_names(bench: Bench) -> None:
    env = bench.open().make_env("/scratch")
    assert (env["LANG"], env["PATH"], env["TMPDIR"]) == ("C", "/bin", "/scratch")
    assert "NPM_TOKEN" not in env
    named = bench.open(permissions=PermissionsSpec(env=("NPM_TOKEN",))).make_env("/scratch")
    assert named["NPM_TOKEN"] == "not-for-children"
    assert named["HOME"] == "/scratch"


def test_the_users_own_context_file_is_read_unless_it_is_not_wanted(bench: Bench) -> None:
    agent = bench.path / "home/.pi/agent"
    agent.mkdir(parents=True)
    (agent / "AGENTS.md").write_text("Speak plainly.", encoding="utf-8")
    workspace = str(bench.path / "source")
    assert "Speak plainly." in bench.open().system_prompt(workspace)
    assert "Speak plainly." not in bench.open(context_files=False).system_prompt(workspace)


def test_what_a_session_says_on_opening_is_a_warning_of_its_task(bench: Bench) -> None:
    parts = bench.open("a")
    path = parts.task_dir / "session.jsonl"
    path.write_bytes((bench.path / "s.jsonl").read_bytes() + b'{"type":"mess')
    parts.open_session(path, "/w").close()
    assert [key for key, _text in bench.warnings] == ["a"]
    assert "torn" in bench.warnings[0][1]


def test_permissions_speak_of_paths_within_the_workspace() -> None:
    rules = PermissionRules(PermissionsSpec(write=PathRules(deny=("tests/**",))), "/w/project")
    arguments = Write.arguments(path="x", content="")
    refused = rules.refusal("write", arguments, ["/w/project/tests/a.py"])
    assert refused is not None
    assert "tests/**" in refused[0]
    assert rules.refusal("write", arguments, ["/w/project/src/tests.py"]) is None
    assert replace(rules, workspace="/w/project/").refusal("write", arguments, ["/w/project/src/a"]) is None


def test_cheats_get_no_sandbox_that_is_none(bench: Bench) -> None:
    with pytest.raises(UsageError, match="never run without a sandbox"):
        bench.open(model="tamper")


def test_hidden_files_that_are_gone_are_said_before_the_agent_begins(bench: Bench) -> None:
    with pytest.raises(WorkspaceError, match="checks"):
        bench.open(hidden=("checks",))
