"""A small project on disk, and the real program run on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.cases.turns import Turn, call_id, say, write_session

BASE = (
    "git init -q -b main; git config user.name t; git config user.email t@example.invalid; "
    "printf 'base\\n' > a.txt; git add -A; git commit -qm base"
)
"""Setup of a repository with one commit."""
DONE = say("done")
Spec = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """What a call came to."""

    text: str
    is_error: bool
    kinds: tuple[str, ...]
    """Types of the content's blocks."""
    details: Mapping[str, Any]
    duration_s: float


@dataclass(frozen=True)
class Ran:
    """One run of the program, and everything that it left."""

    exit_code: int
    stdout: bytes
    stderr: str
    duration_s: float
    max_rss_mib: float
    run_dir: Path

    @cached_property
    def report(self) -> dict[str, Any]:
        """run.json."""
        report: dict[str, Any] = json.loads((self.run_dir / "run.json").read_bytes())
        return report

    @property
    def result(self) -> dict[str, Any]:
        """The only result of run.json."""
        (result,) = self.report["results"]
        assert isinstance(result, dict)
        return result

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """All results of run.json by task."""
        return {result["task_id"]: result for result in self.report["results"]}

    @property
    def reason(self) -> str:
        """Why the only task came out so, and its error's kind."""
        error = self.result["error"]
        return f"{error['kind'] if error else ''} {self.result['reason']}"

    @property
    def junit_bytes(self) -> bytes:
        """junit.xml."""
        return (self.run_dir / "junit.xml").read_bytes()

    @cached_property
    def junit(self) -> ET.Element:
        """The same, parsed."""
        return ET.fromstring(self.junit_bytes)

    def junit_count(self, tag: str) -> int:
        """Elements of junit.xml by tag."""
        return len(list(self.junit.iter(tag)))

    @property
    def session_bytes(self) -> bytes:
        """The only task's session.jsonl; empty when it was never begun."""
        (path,) = self.run_dir.glob("tasks/*/session.jsonl")
        return path.read_bytes()

    @cached_property
    def messages(self) -> tuple[dict[str, Any], ...]:
        """The session's messages, as pi writes them."""
        entries = [json.loads(line) for line in self.session_bytes.split(b"\n") if line]
        return tuple(entry["message"] for entry in entries if entry["type"] == "message")

    @property
    def replies(self) -> int:
        """How many requests were answered."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def sent(self) -> str:
        """All text that the model was sent: prompts and results."""
        return "\n".join(
            block.get("text", "")
            for message in self.messages
            if message["role"] in ("user", "toolResult")
            for block in message["content"]
        )

    @cached_property
    def events(self) -> tuple[dict[str, Any], ...]:
        """events.jsonl, without its header."""
        lines = (self.run_dir / "events.jsonl").read_bytes().split(b"\n")
        return tuple(json.loads(line) for line in lines[1:] if line)

    @cached_property
    def _results(self) -> dict[str, Result]:
        spent = {
            event["tool_call_id"]: event["duration_s"]
            for event in self.events
            if event["type"] == "tool_execution_end"
        }
        return {
            message["toolCallId"]: Result(
                "\n".join(block.get("text", "") for block in message["content"]),
                message["isError"],
                tuple(block["type"] for block in message["content"]),
                message.get("details", {}),
                spent[message["toolCallId"]],
            )
            for message in self.messages
            if message["role"] == "toolResult"
        }

    def call(self, turn_number: int, call_number: int = 0) -> Result:
        """What a call came to, both numbers from 0."""
        return self._results[call_id(turn_number, call_number)]

    @property
    def patch(self) -> bytes:
        """The only task's patch; empty when there is none."""
        path = self.result["patch"]
        return (self.run_dir / path).read_bytes() if path else b""

    @property
    def changed(self) -> dict[str, str]:
        """Changed files of the only task: path -> status."""
        return {file["path"]: file["status"] for file in self.result["changed_files"]}

    def files(self) -> Iterator[Path]:
        """Every file of the run directory."""
        return (path for path in sorted(self.run_dir.rglob("*")) if path.is_file())


@dataclass
class Project:
    """A directory `project` beside a spec, in a home of its own."""

    base: Path
    count: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Make the directories."""
        for path in (self.root, self.home):
            path.mkdir(parents=True)

    @property
    def root(self) -> Path:
        """Where the agent is sent."""
        return self.base / "project"

    @property
    def home(self) -> Path:
        """HOME of the program."""
        return self.base / "home"

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """A plain environment: nothing of the caller's but PATH."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", **(more or {})}

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write files into the project."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def shell(self, command: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command in the project with bash."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=self.environ(),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60,
        )
        assert done.returncode == 0 or not check, done.stderr
        return done

    def write_spec(self, name: str = "task.yaml", **fields: Any) -> Path:
        """A task's spec beside the project; left out: in place, with one check that passes."""
        workspace = {"path": "project", "isolation": fields.pop("isolation", "none")}
        spec = {"prompt": "Go.", "verify": ["true"], **fields}
        spec["workspace"] = workspace | fields.get("workspace", {})
        path = self.base / name
        path.write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")
        return path

    def run(
        self,
        *turns: Turn,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        ends: bool = True,
        popen: Mapping[str, Any] | None = None,
        **spec: Any,
    ) -> Ran:
        """Run one task; `ends` adds a last reply after turns that all have calls."""
        said = [*turns, DONE] if ends and (not turns or turns[-1].calls) else list(turns)
        session = write_session(self.base / "model.jsonl", said)
        path = self.write_spec(**spec)
        return self.start("run", path.name, "-m", f"replay/{session.name}", *args, env=env, popen=popen)

    def run_all(
        self, specs: Mapping[str, Spec], *turns: Turn, args: Sequence[str] = (), jobs: int = 3
    ) -> Ran:
        """Run several tasks, each on the same recording."""
        session = write_session(self.base / "model.jsonl", [*turns, DONE])
        paths = [self.write_spec(f"{name}.yaml", **spec).name for name, spec in specs.items()]
        return self.start("run", *paths, "-m", f"replay/{session.name}", "--jobs", str(jobs), *args)

    def start(
        self,
        command: str,
        *args: str,
        env: Mapping[str, str] | None = None,
        popen: Mapping[str, Any] | None = None,
    ) -> Ran:
        """Run `pi-batch COMMAND` beside the project, into a run directory of its own."""
        self.count += 1
        run_dir = self.base / f"run-{self.count}"
        words = [sys.executable, "-m", "pi_batch", command, *args, "--output", str(run_dir)]
        options = {"cwd": self.base, "env": self.environ(env), "stdin": subprocess.DEVNULL, **(popen or {})}
        return finished(words, run_dir, self.base, options)


def finished(words: Sequence[str], run_dir: Path, scratch: Path, popen: Mapping[str, Any]) -> Ran:
    """Run a program to its end, its output in files: what it left, and what it took."""
    outputs = [scratch / f"{run_dir.name}.{stream}" for stream in ("stdout", "stderr")]
    started_s = time.monotonic()
    with outputs[0].open("wb") as stdout, outputs[1].open("wb") as stderr:
        process = subprocess.Popen(words, **{"stdout": stdout, "stderr": stderr, **popen})
        status, rss_mib = _wait(process, started_s + 90)
    return Ran(
        status,
        outputs[0].read_bytes(),
        outputs[1].read_bytes().decode("utf-8", "strict"),
        time.monotonic() - started_s,
        rss_mib,
        run_dir,
    )


def _wait(process: subprocess.Popen[bytes], until_s: float) -> tuple[int, float]:
    """Exit code and the largest memory of the process or any child of it, in MiB."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            unit = 1024 if sys.platform == "linux" else 1024 * 1024
            return process.returncode, usage.ru_maxrss / unit
        if time.monotonic() > until_s:
            process.kill()
            process.wait()
            raise AssertionError(f"{process.args!r} did not end")
        time.sleep(0.01)
