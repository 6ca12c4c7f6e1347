"""The programs that are measured: ours and the bare loop, in workspaces of their own.

Ours run without a sandbox unless asked for one, as the bare loop has none: what it adds is a figure apart.
Tasks have the two tools of the bare loop (`exec` has all, with their schemas in each request).
A key as long as real ones makes sure that secrets are looked for.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bench.measuring import ROOT, Program
from scripts.bench.server import FILES

TASKS = 40
JOBS = 8
_LINE = "    return [item.strip() for item in text.split(',')]  # one line of a source file\n"
_TASK = """\
version: 1
prompt: Do it.
workspace: {path: ., isolation: none}
tools: [read, bash]
budget: {turns: 1000}
"""
_NAMES = ("OPENAI", "ANTHROPIC", "GOOGLE")
_LEAN = """\
import asyncio, sys
sys.modules["httpx._main"] = None
from scripts.bench.bare import main
asyncio.run(main(sys.argv[1]))
"""


@dataclass(frozen=True, slots=True)
class Programs:
    """Makes programs that work in a temporary directory."""

    directory: Path
    base_url: str

    def prepare(self) -> None:
        """Make the workspaces and the recorded session."""
        (self.directory / "home").mkdir()
        for number in range(TASKS):
            workspace = self.directory / "tasks" / f"t{number}"
            (workspace / "src").mkdir(parents=True)
            (workspace / "task.yaml").write_text(f"{_TASK}id: t{number}\n")
            for file in range(FILES):
                (workspace / "src" / f"f{file}.txt").write_text(_LINE * 25)
        self._session.write_text("".join(f"{json.dumps(line)}\n" for line in _recorded(self.directory)))

    def ours(self, *arguments: str) -> Program:
        """`pi-batch` with these arguments in the first workspace."""
        command = str(Path(sys.executable).with_name("pi-batch"))
        return Program([command, *arguments], self._workspace, self._env)

    def run(self, model: str, sandbox: str = "none", codemode: str | None = None) -> Program:
        """One task with one model."""
        words = () if codemode is None else ("--codemode", codemode)
        return self.ours("run", "task.yaml", "-m", f"openai-chat/{model}", "--sandbox", sandbox, *words)

    def wire(self, service: str, model: str) -> Program:
        """One task by the wire that a service speaks."""
        return self.ours("run", "task.yaml", "-m", f"{service}/{model}", "--sandbox", "none")

    def exec(self, model: str) -> Program:
        """One ad-hoc prompt with one model."""
        return self.ours("exec", "Do it.", "-m", f"openai-chat/{model}", "--sandbox", "none")

    def replay(self) -> Program:
        """One task of one recorded reply."""
        return self.ours("run", "task.yaml", "-m", f"replay/{self._session}", "--sandbox", "none")

    def batch(self, model: str) -> Program:
        """All tasks, some at a time, in one process."""
        specs = [f"../t{number}/task.yaml" for number in range(TASKS)]
        return self.ours(
            "run", *specs, "-m", f"openai-chat/{model}", "--jobs", str(JOBS), "--sandbox", "none"
        )

    def bare(self, model: str, *, tasks: int = 1) -> Program:
        """The bare loop."""
        argv = [sys.executable, "-m", "scripts.bench.bare", model, str(tasks), str(JOBS)]
        return Program(argv, self._workspace, {**self._env, "PYTHONPATH": str(ROOT)})

    def lean(self, model: str) -> Program:
        """The bare loop where httpx's command line is not installed."""
        argv = [sys.executable, "-c", _LEAN, model]
        return Program(argv, self._workspace, {**self._env, "PYTHONPATH": str(ROOT)})

    def python(self, code: str) -> Program:
        """A line of Python."""
        return Program([sys.executable, "-c", code], self._workspace, self._env)

    @property
    def _workspace(self) -> Path:
        return self.directory / "tasks" / "t0"

    @property
    def _session(self) -> Path:
        return self.directory / "session.jsonl"

    @property
    def _env(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory / "home"),
            "LANG": "C.UTF-8",
            **{f"{name}_API_KEY": "sk-bench-0123456789abcdefghijklmnopqrstuvwxyz" for name in _NAMES},
            **{f"{name}_BASE_URL": self.base_url.removesuffix("/v1") for name in _NAMES},
            "PI_BATCH_OUTPUT": str(self.directory / "runs"),
        }


def _recorded(directory: Path) -> list[dict[str, Any]]:
    """A session of one prompt and one answer."""
    at = {"timestamp": "2026-01-01T00:00:00.000Z"}
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    usage = {"input": 9, "output": 9, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 18, "cost": cost}
    user = {"role": "user", "content": [{"type": "text", "text": "Do it."}], "timestamp": 1}
    reply = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Done."}],
        "api": "openai-completions",
        "provider": "openai",
        "model": "m",
        "usage": usage,
        "stopReason": "stop",
        "timestamp": 2,
    }
    return [
        {
            "type": "session",
            "version": 3,
            "id": "5f2b1c1e-8a04-4f6c-9d0a-1f2e3d4c5b6a",
            "cwd": str(directory),
            **at,
        },
        {"type": "message", "id": "00000001", "parentId": None, "message": user, **at},
        {"type": "message", "id": "00000002", "parentId": "00000001", "message": reply, **at},
    ]
