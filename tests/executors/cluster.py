"""A real Dask cluster on loopback, a model service that counts, and the program as a person starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.servers.loopback import LoopbackServer
from tests.servers.script import Call, Reply, Step
from tests.servers.threaded import served

MODEL = "anthropic/claude-sonnet-5"
KEY = "sk-test-never-in-a-file-0123456789"
TRIALS = 3
LAST_TURN = 3
SUITE = """tasks:
  - id: t
    prompt: "trial={{ inputs.n }};"
    inputs: {n: {type: string, default: "0"}}
    workspace: {path: project, isolation: copy}
    verify: ["test -e made-2"]
matrix: {inputs: {n: ["1", "2", "3"]}}
"""


def until(fact: Callable[[], object], what: str, timeout_s: float = 60.0) -> None:
    """Wait for something to be so."""
    end_s = time.monotonic() + timeout_s
    while not fact():
        assert time.monotonic() < end_s, f"it never came to: {what}"
        time.sleep(0.05)


class Site:
    """A directory with a suite, and what runs around it."""

    def __init__(self, path: Path, url: str) -> None:
        self.path = path
        self.gate = path / "gate"
        """Until it is there, the second turn's command of every trial goes on."""
        self.asked: Counter[tuple[str, int]] = Counter()
        """(trial, turn) -> how often the service was asked for it."""
        self.processes: list[subprocess.Popen[bytes]] = []
        (path / "project").mkdir()
        (path / "suite.yaml").write_text(SUITE, encoding="utf-8")
        (path / "home").mkdir()
        self.url = url

    @property
    def environ(self) -> dict[str, str]:
        """Of programs and workers: keys come to a worker by its own environment."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.path / "home"),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.url,
        }

    def answer(self, body: Mapping[str, Any]) -> Step:
        """The model: three turns with a command each, and a word at the end."""
        trial = json.dumps(body["messages"]).split("trial=")[1].split(";")[0]
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        self.asked[trial, turn] += 1
        if turn == LAST_TURN:
            return Reply("done")
        command = f"touch made-{turn}; echo x >> {self.path}/did-{trial}-{turn}"
        if turn == 1:
            command += f"; while [ ! -e {self.gate} ]; do sleep 0.1; done"
        return Reply(calls=(Call("bash", {"command": command}, id=f"call_{turn}"),))

    def start(self, *words: str, log: str) -> subprocess.Popen[bytes]:
        """A program, its output in a file."""
        with (self.path / log).open("ab") as file:
            process = subprocess.Popen(
                [sys.executable, *words], cwd=self.path, env=self.environ, stdout=file, stderr=file
            )
        self.processes.append(process)
        return process

    def scheduler(self, name: str) -> tuple[subprocess.Popen[bytes], str]:
        """A scheduler on a port of its own choice, and its address."""
        file = self.path / f"{name}.json"
        words = (
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
        )
        process = self.start(*words, "--scheduler-file", str(file), log=f"{name}.log")
        until(lambda: file.exists() and file.stat().st_size, "a scheduler")
        address: str = json.loads(file.read_text(encoding="utf-8"))["address"]
        return process, address

    def worker(self, address: str, threads: int) -> subprocess.Popen[bytes]:
        """A worker without a nanny: what is killed stays dead."""
        words = ("-m", "distributed.cli.dask_worker", address, "--nthreads", str(threads), "--no-nanny")
        return self.start(*words, "--no-dashboard", "--local-directory", "scratch", log="workers.log")

    def run(self, address: str, *words: str) -> subprocess.Popen[bytes]:
        """`pi-batch run` or `resume` on the cluster."""
        what = words or ("run", "suite.yaml", "-m", MODEL, "--output", "out", "--sandbox", "none")
        more = ("--executor", "dask", "--scheduler", address)
        return self.start("-m", "pi_batch", *what, *more, log="program.log")

    def are_waiting(self, count: int) -> bool:
        """True when so many trials are in the command that waits for the gate."""
        return len(list(self.path.glob("did-*-1"))) >= count

    def report(self) -> dict[str, Any]:
        """run.json."""
        report: dict[str, Any] = json.loads((self.path / "out/run.json").read_text(encoding="utf-8"))
        return report

    def said(self, log: str = "program.log") -> str:
        """What a program said."""
        return (self.path / log).read_text(encoding="utf-8", errors="replace")

    def running(self) -> list[str]:
        """Command lines of this site's trials that still run."""
        mine = str(self.path / "out")
        lines = []
        for process in psutil.process_iter():
            try:
                line = " ".join(process.cmdline())
            except psutil.Error:
                continue
            if ("pi_batch.wiring.trial" in line and mine in line) or str(self.gate) in line:
                lines.append(line)
        return lines

    def stop(self) -> None:
        """End everything that was started."""
        self.gate.touch()
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@contextmanager
def site(path: Path) -> Iterator[Site]:
    """A site with its model service."""
    made: list[Site] = []

    def answer(body: Mapping[str, Any]) -> Step:
        return made[0].answer(body)

    with served(LoopbackServer(answer, key=KEY)) as server:
        made.append(Site(path, server.url))
        try:
            yield made[0]
        finally:
            made[0].stop()


def kill(process: subprocess.Popen[bytes]) -> None:
    """As a machine that loses its power: no word, no clean-up."""
    process.send_signal(signal.SIGKILL)
    process.wait()
