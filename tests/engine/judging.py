"""A real project, a real workspace and a real sandbox for the judge; the agent is a shell script."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import convert

from pi_batch import verifiers
from pi_batch.engine.verification import Judge, JudgeParts, Verdict
from pi_batch.environment import child_environment
from pi_batch.events import Event, VerificationEnd, VerificationStart, Warned
from pi_batch.protocols import Workspace
from pi_batch.redact import Masker
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.spec import TaskSpec
from pi_batch.workspaces import open_workspace
from tests.clocks import FakeClock

BIN = Path(sys.executable).parent

PROJECT: Mapping[str, str] = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n",
    "tests/test_add.py": (
        "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\n"
        "def test_zero():\n    assert add(0, 0) == 0\n"
    ),
    "tests/test_double.py": (
        "import pytest\nfrom calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n\n\n"
        "@pytest.mark.skip\ndef test_later():\n    pass\n"
    ),
    "pyproject.toml": (
        '[project]\nname = "calc"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n'
    ),
}
"""One failing test, two that pass, one that is skipped."""

FIX = "sed -i 's/a - b/a + b/' calc.py"


def make_project(directory: Path, files: Mapping[str, str] = PROJECT) -> Path:
    """A repository with one commit."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    script = (
        "git init -q -b main && git config user.name t && git config user.email t@example.invalid"
        " && git add -A && git commit -q -m base"
    )
    subprocess.run(["bash", "-c", script], cwd=directory, check=True)
    return directory


def make_spec(**keys: Any) -> TaskSpec:
    """A spec whose check is `pytest -q`, with other keys as given."""
    keys.setdefault("verify", [{"name": "tests", "run": "pytest -q -p no:cacheprovider"}])
    return convert({"id": "task", "prompt": "fix it", **keys}, TaskSpec)


@dataclass
class Court:
    """A judge with everything around it."""

    judge: Judge
    workspace: Workspace
    sandbox: NoneSandbox
    env: Mapping[str, str]
    logs: Path
    home: Path
    events: list[Event] = field(default_factory=list)

    async def agent(self, script: str) -> None:
        """Do in the workspace what the agent does, in the task's own sandbox."""
        output: list[bytes] = []
        done = await self.sandbox.exec(
            ["bash", "-e", "-c", script],
            cwd=self.workspace.path,
            env=self.env,
            timeout_s=60,
            on_output=output.append,
        )
        assert done.exit_code == 0, b"".join(output).decode()

    async def verdict(self, script: str = "true", attempt: int = 1, answer: str | None = None) -> Verdict:
        """Let the agent work, then judge."""
        await self.agent(script)
        return await self.judge.judge(attempt, answer)

    @property
    def warnings(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, Warned)]

    def ended(self, phase: str) -> list[VerificationEnd]:
        """The ends of one phase, after a look that every start has one."""
        starts = [event.name for event in self.events if isinstance(event, VerificationStart)]
        ends = [event for event in self.events if isinstance(event, VerificationEnd)]
        assert starts == [event.name for event in ends]
        return [event for event in ends if event.phase == phase]


@asynccontextmanager
async def court(
    tmp_path: Path,
    spec: TaskSpec,
    *,
    isolation: str = "clone",
    path: Sequence[Path] = (BIN,),
    secrets: Sequence[str] = (),
    source: Path | None = None,
) -> AsyncIterator[Court]:
    """Open a workspace for a project, and a judge of it; everything is closed afterwards."""
    source = source or make_project(tmp_path / "project")
    state, logs, home = tmp_path / "state", tmp_path / "run" / "tasks" / "task", tmp_path / "home"
    for directory in (state, state / "scratch", logs, home):
        directory.mkdir(parents=True, exist_ok=True)
    environ = {
        "PATH": ":".join([*map(str, path), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(home),
        # Half of pytest's start is plugins that no project here uses.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }

    def make_env(scratch: str) -> Mapping[str, str]:
        return child_environment(environ, tuple(environ), scratch)

    workspace = open_workspace(isolation, source, state)
    await workspace.open()
    sandbox = NoneSandbox()
    await sandbox.start()
    events: list[Event] = []
    parts = JudgeParts(
        spec=spec,
        workspace=workspace,
        sandbox=sandbox,
        make_sandbox=lambda *_: NoneSandbox(),
        make_env=make_env,
        scratch=state / "scratch",
        emit=events.append,
        clock=FakeClock(),
        mask=Masker(secrets),
        log_dir=logs,
        log_prefix="tasks/task",
    )
    judge = Judge(parts, verifiers.make_all())
    try:
        await judge.setup()
        yield Court(judge, workspace, sandbox, make_env(str(parts.scratch)), logs, home, events)
    finally:
        await sandbox.close()
        await workspace.close(keep=False)
