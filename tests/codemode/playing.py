"""Scripts through the whole program: specs, recorded models, one real run, and what it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cases.turns import Call, Turn, call, say, turn, write_session

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Case:
    """One task: its scripts, each a turn of its own, and what its workspace holds."""

    scripts: Sequence[str | Call]
    files: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def turns(self) -> list[Turn]:
        made = [
            one if isinstance(one, Call) else call("codemode", script=one, **self.arguments)
            for one in self.scripts
        ]
        return [*(turn(each) for each in made), say("done")]


@dataclass(frozen=True)
class Played:
    """What one task came to."""

    result: Mapping[str, Any]
    """Of run.json."""
    messages: Sequence[Mapping[str, Any]]
    """Results of its calls, as the session has them."""
    events: Sequence[Mapping[str, Any]]
    workspace: Path

    @property
    def texts(self) -> list[str]:
        return ["\n".join(block.get("text", "") for block in one["content"]) for one in self.messages]

    @property
    def outputs(self) -> list[str]:
        """What each script printed, as far as it is shown, without errors."""
        return [text.partition("Output:\n")[2] for text in self.texts]

    def nested(self, place: int = 0) -> list[tuple[str, str]]:
        """(tool, status) of a script's calls."""
        return [(one["name"], one["status"]) for one in self.messages[place]["nestedCalls"]["calls"]]

    def inner_ends(self) -> list[Mapping[str, Any]]:
        return [
            event
            for event in self.events
            if event["type"] == "tool_execution_end" and event["parent_tool_call_id"] is not None
        ]


def play(
    top: Path, cases: Mapping[str, Case], *words: str, environ: Mapping[str, str] | None = None, jobs: int = 4
) -> dict[str, Played]:
    """Run all cases as tasks of one suite, in place, and read what is left."""
    tasks = []
    (top / "recordings").mkdir()
    for name, case in cases.items():
        workspace = top / "work" / name
        workspace.mkdir(parents=True)
        for path, text in case.files.items():
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / path).write_text(text, encoding="utf-8")
        write_session(top / "recordings" / f"{name}.jsonl", case.turns())
        place = {"path": f"work/{name}", "isolation": "none"}
        tasks.append(
            {
                "id": name,
                "prompt": "p",
                "workspace": place,
                "context_files": False,
                "sandbox": "none",
                **case.spec,
            }
        )
    suite = {"version": 1, "max_parallel": jobs, "tasks": tasks}
    (top / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pi_batch",
            "run",
            "suite.yaml",
            "-m",
            f"replay/{top}/recordings",
            "--output",
            "out",
            "--quiet",
            *words,
        ],
        cwd=top,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environ or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (top / "out/run.json").exists(), done.stderr
    report = json.loads((top / "out/run.json").read_bytes())
    events = [json.loads(line) for line in (top / "out/events.jsonl").read_text().split("\n")[1:] if line]
    return {
        result["task_id"]: Played(
            result,
            _results(top / "out" / result["session"]) if result["session"] else (),
            [event for event in events if event["key"] == result["key"]],
            top / "work" / result["task_id"],
        )
        for result in report["results"]
    }


def _results(session: Path) -> list[Mapping[str, Any]]:
    entries = [json.loads(line) for line in session.read_text(encoding="utf-8").split("\n") if line]
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    return [message for message in messages if message["role"] == "toolResult"]
